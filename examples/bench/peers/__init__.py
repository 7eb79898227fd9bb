"""Other tools on the same rows and rules, beside ours: installed on demand, apart from the project.

Each is measured in a process of its own, together with ours on the rules that it can express.
"""
