"""gedit from Python: edits serialized TensorFlow graphs without TensorFlow.

    import gedit_tf
    two = gedit_tf.run("copy", "dqn.meta", outputs=["online/q_values"], from_scope="online", scope="target")
    gedit_tf.run("rename", graph_def, "online/=student/", output="student.pb")

Commands and options are those of the program; `gedit COMMAND --help` describes them.
"""
from gedit_tf._draw import Picture, draw
from gedit_tf._errors import Error, InputError, RefusedError, UsageError, Warning, WriteError
from gedit_tf._run import Model, Text, program, run

__all__ = ["Error", "InputError", "Model", "Picture", "RefusedError", "Text", "UsageError", "Warning", "WriteError",
           "draw", "program", "run"]
