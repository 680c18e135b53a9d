"""What a check's process runs for terp: copied there, in any Python from 3.8, without anything of terp."""
