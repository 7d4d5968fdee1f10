"""The steps of one stage, in order: load, teach, train, publish, measure. No step imports a later one."""
