"""A stand-in for three judge services on the loopback interface: strict, counting, and faulty on demand."""
