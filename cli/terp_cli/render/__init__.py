"""Drawing on a terminal: finished rows are appended, only a bounded tail is ever painted again."""
