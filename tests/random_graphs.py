"""Random graphs: arithmetic, conds, cases and loops of both versions, nested, calls, TensorArrays, tables,
seeded draws."""
import tensorflow
import tensorflow.compat.v1 as tf

WIDTH = 3


class Generated:
    """One graph by a random generator, with an output that all of it may count for."""

    def __init__(self, rng):
        self.rng = rng
        if rng.random() < 0.5:
            tf.enable_control_flow_v2()
        else:
            tf.disable_control_flow_v2()
        graph = tf.Graph()
        with graph.as_default():
            x = tf.placeholder(tf.float32, [WIDTH], name="x")
            u = tf.placeholder(tf.float32, [WIDTH], name="u")
            tf.identity(self.block([x, u], 2), name="y")
        tf.disable_control_flow_v2()
        self.graph = graph.as_graph_def()

    def constant(self, *_):
        return tf.constant([self.rng.choice((0.0, -0.0, 1.0, 2.0, 0.5, float("nan"), -3.0)) for _ in range(WIDTH)])

    def predicate(self, values):
        return tf.reduce_sum(self.rng.choice(values)) > self.rng.choice((0.0, 1.0, -2.0))

    def block(self, values, depth):
        """A tensor made of these by some steps; what it makes on the way may be read, too."""
        values = list(values)
        for _ in range(self.rng.randint(2, 4)):
            kinds = ["sum", "sum", "unary", "unary", "constant"] + (["cond", "case", "loop", "call", "array", "draw", "table"] if depth else [])
            values.append(getattr(self, self.rng.choice(kinds))(values, depth))
        return values[-1]

    def sum(self, values, _):
        op = self.rng.choice((tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum))
        return op(self.rng.choice(values), self.rng.choice(values))

    def unary(self, values, _):
        return self.rng.choice((tf.negative, tf.tanh, tf.nn.relu, tf.identity, tf.abs))(self.rng.choice(values))

    def cond(self, values, depth):
        return tf.cond(self.predicate(values), lambda: self.block(values, depth - 1), lambda: self.block(values, depth - 1))

    def case(self, values, depth):
        index = tf.argmax(self.rng.choice(values), output_type=tf.int32) - self.rng.randint(0, 1)
        return tf.switch_case(index, [lambda: self.block(values, depth - 1) for _ in range(self.rng.randint(1, 3))])

    def loop(self, values, depth):
        most, start = self.rng.randint(0, 3), self.rng.choice(values)
        return tf.while_loop(lambda i, v: tf.less(i, most),
                             lambda i, v: (i + 1, tf.ensure_shape(self.block(values + [v], depth - 1), [WIDTH])),
                             [tf.constant(0), tf.identity(start)])[1]

    def call(self, values, depth):
        picked = [self.rng.choice(values), self.rng.choice(values)]
        return tf.ensure_shape(tensorflow.function(lambda *arguments: self.block(arguments, depth - 1))(*picked), [WIDTH])

    def array(self, values, _):
        array = tf.TensorArray(tf.float32, size=2, element_shape=[WIDTH], clear_after_read=False)
        array = array.write(0, self.rng.choice(values)).write(1, self.rng.choice(values))
        return array.read(self.rng.randint(0, 1)) + array.read(0)

    def draw(self, values, _):
        return self.rng.choice(values) + tf.random_uniform([WIDTH], seed=self.rng.randint(1, 3))

    def table(self, values, _):
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0, 1], [1.5, 2.5]), 9.0)
        return self.rng.choice(values) + table.lookup(tf.cast(tf.reduce_sum(self.rng.choice(values)) > 0, tf.int32))

