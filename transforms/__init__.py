"""The rooms of the flow, in one direction.

files ─► expand ─► read ─► unwrap ─► normalise ─► stage ─► publish ─► lake
         shards   records  exchanges  calls      parts    partitions  pointer
"""
