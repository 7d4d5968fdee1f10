"""All checks of a recipe, one file per question. `validate.py` lists them and is the only caller.

A check is `check(draft, problems)`: it reads the draft, adds what it resolves, and reports problems. It asks methods
(`check_teacher`, `dry_prepare`, `dry_finish`), tasks, families and packed weights for their own rules; they raise InputError with the reason.
"""
