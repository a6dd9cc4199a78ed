"""Timers that wait until an object has been idle."""

import kopf


@kopf.timer("kopfexamples", idle=0.5, interval=0.2)
async def every_fifth_of_a_second(**_):
    pass


@kopf.timer("kopfexamples", idle=1, interval=0.4)
async def every_two_fifths(**_):
    pass
