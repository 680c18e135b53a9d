# Runs code that comes in on one descriptor and tells the verdict on another: see driver.py.
# What a cell puts out is formatted and printed as at the prompt. SIGINT ends PowerShell: nothing catches it.
param([long]$TerpCode, [long]$TerpVerdict)

$TerpDriver = New-Module -AsCustomObject -ArgumentList $TerpCode, $TerpVerdict -ScriptBlock {
    param($code, $verdict)
    $utf8 = [Text.UTF8Encoding]::new($false)
    [Console]::OutputEncoding = $utf8
    function Open-Descriptor($number, $access) {
        [IO.FileStream]::new([Microsoft.Win32.SafeHandles.SafeFileHandle]::new([IntPtr]$number, $true), $access)
    }
    $reader = [IO.StreamReader]::new((Open-Descriptor $code Read), $utf8)
    $writer = [IO.StreamWriter]::new((Open-Descriptor $verdict Write), $utf8)
    function Read-Cell {
        $text = [Text.StringBuilder]::new()
        while (($char = $reader.Read()) -gt 0) { [void]$text.Append([char]$char) }
        if ($char -lt 0) { exit 0 }
        [scriptblock]::Create($text.ToString())
    }
    function Write-Verdict($told) {
        [Console]::Out.Flush()
        $writer.Write(($told | ConvertTo-Json -Compress -Depth 3) + [char]0)
        $writer.Flush()
    }
    function Get-Failure($problem) {
        $exception = $problem.Exception
        $trace = @("$($problem.ScriptStackTrace)" -split "`n" | Where-Object { $_ -notmatch 'powershell\.ps1' })
        @{ name = $exception.GetType().Name; message = $exception.Message; trace = $trace }
    }
    Export-ModuleMember -Function Read-Cell, Write-Verdict, Get-Failure
}
Remove-Variable TerpCode, TerpVerdict
$TerpDriver.'Write-Verdict'(@{})
while ($true) {
    try {
        . $TerpDriver.'Read-Cell'() | Out-Default
        $TerpDriver.'Write-Verdict'(@{ value = $null })
    } catch {
        $TerpDriver.'Write-Verdict'($TerpDriver.'Get-Failure'($_))
    }
}
