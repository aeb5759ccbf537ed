import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, mock, test } from 'node:test'
import * as fc from 'fast-check'
import { Deadline, Deadlines } from './deadlines.ts'

const TICK = 16
let time = 0

describe('deadlines', () => {
  beforeEach(() => {
    time = 1_000_003
    mock.timers.enable({ apis: ['setTimeout'] })
  })
  afterEach(() => mock.timers.reset())

  test('a deadline fires once, not early and at most two ticks late', () => {
    for (const ms of [0, 1, 15, 16, 17, 100, 1000, 8191, 8192, 8193, 60_000, 600_000]) {
      const { deadlines, firedAt, deadline } = single()
      const start = time
      deadlines.set(deadline, ms)
      run(ms + 2 * TICK)
      assert.equal(firedAt.length, 1, `${ms} ms`)
      const late = firedAt[0]! - (start + ms)
      assert.ok(late >= 0 && late <= 2 * TICK, `${ms} ms was ${late} late`)
      run(20_000)
      assert.equal(firedAt.length, 1)
    }
  })

  test('a deadline on the border of a tick fires with that tick', () => {
    for (const ticks of [1, 10]) {
      const { deadlines, firedAt, deadline } = single()
      time = Math.ceil(time / TICK) * TICK
      const border = time + ticks * TICK
      deadlines.set(deadline, border - time)
      run(border - time)
      assert.deepEqual(firedAt, [border])
    }
  })

  test('a deadline that is due at once, on the border of a tick, fires with the next tick', () => {
    const { deadlines, firedAt, deadline } = single()
    time = Math.ceil(time / TICK) * TICK
    const start = time
    deadlines.set(deadline, 0)
    run(TICK)
    assert.deepEqual(firedAt, [start + TICK])
  })

  test('a deadline far away wakes the process once in a round, not with every tick', () => {
    let readings = 0
    const deadlines = new Deadlines(() => (readings++, time))
    deadlines.set(new Deadline(() => assert.fail('fired early')), 600_000)
    readings = 0
    run(80_000)
    assert.ok(readings > 5 && readings <= 10, `${readings} readings`)
    deadlines.close()
  })

  test('a deadline moved later stays where it is in the round until its slot comes', () => {
    const { deadlines, deadline } = single()
    deadlines.set(deadline, 100)
    const { slotAt } = deadline
    deadlines.set(deadline, 4000)
    assert.equal(deadline.slotAt, slotAt)
  })

  test('a deadline moved later fires at the later time only', () => {
    const { deadlines, firedAt, deadline } = single()
    deadlines.set(deadline, 100)
    for (let i = 0; i < 50; i++) {
      run(90)
      deadlines.set(deadline, 100)
    }
    const start = time
    assert.deepEqual(firedAt, [])
    run(99)
    assert.deepEqual(firedAt, [])
    run(40)
    assert.equal(firedAt.length, 1)
    assert.ok(firedAt[0]! >= start + 100)
  })

  test('a deadline moved earlier fires at the earlier time', () => {
    const { deadlines, firedAt, deadline } = single()
    deadlines.set(deadline, 600_000)
    run(50)
    const start = time
    deadlines.set(deadline, 40)
    run(40 + 2 * TICK)
    assert.equal(firedAt.length, 1)
    assert.ok(firedAt[0]! >= start + 40)
  })

  test('a cleared deadline does not fire and can be set again', () => {
    const { deadlines, firedAt, deadline } = single()
    deadlines.set(deadline, 50)
    deadlines.clear(deadline)
    deadlines.clear(deadline)
    run(1000)
    assert.deepEqual(firedAt, [])
    deadlines.set(deadline, 50)
    run(100)
    assert.equal(firedAt.length, 1)
  })

  test('an expiry may clear, move and set its neighbours', () => {
    const deadlines = new Deadlines(() => time)
    const fired: string[] = []
    const kept = new Deadline(() => fired.push('kept'))
    const cleared = new Deadline(() => fired.push('cleared'))
    const moved = new Deadline(() => fired.push('moved'))
    const actor = new Deadline(() => {
      fired.push('actor')
      deadlines.clear(cleared)
      deadlines.set(moved, 200)
      deadlines.set(actor, 10_000)
    })
    // All are in one slot; the deadline set last is visited first.
    for (const deadline of [kept, moved, cleared, actor]) deadlines.set(deadline, 100)
    // Moved later without leaving its slot: it must survive when its neighbor is cleared.
    deadlines.set(kept, 150)
    run(100 + 2 * TICK)
    assert.deepEqual(fired, ['actor'])
    run(50)
    assert.deepEqual(fired, ['actor', 'kept'])
    run(150)
    assert.deepEqual(fired, ['actor', 'kept', 'moved'])
    run(10_000)
    assert.deepEqual(fired, ['actor', 'kept', 'moved', 'actor'])
  })

  test('after a long stall everything due fires in the first tick, and nothing else', () => {
    const deadlines = new Deadlines(() => time)
    const fired: number[] = []
    const delays = [10, 500, 8000, 9000, 50_000, 99_000, 101_000, 108_191, 200_000]
    for (const ms of delays) deadlines.set(new Deadline(() => fired.push(ms)), ms)
    time += 100_000
    mock.timers.tick(100_000)
    assert.deepEqual(
      fired.toSorted((a, b) => a - b),
      [10, 500, 8000, 9000, 50_000, 99_000],
    )
    run(101_000)
    assert.equal(fired.length, delays.length)
  })

  test('a stall of exactly a round leaves no slot of it out', () => {
    for (const ticks of [510, 511, 512, 513]) {
      const deadlines = new Deadlines(() => time)
      let left = 0
      for (let ms = 0; ms < 8000; ms += TICK) deadlines.set(new Deadline(() => void left--), (left++, ms))
      time += ticks * TICK
      mock.timers.tick(ticks * TICK)
      assert.equal(left, 0, `${ticks} ticks`)
    }
  })

  test('one far deadline survives a stall of two ticks', () => {
    const { deadlines, firedAt, deadline } = single()
    deadlines.set(deadline, 8176 + TICK * 40)
    for (let i = 0; i < 600; i++) {
      time += 2 * TICK
      mock.timers.tick(2 * TICK)
    }
    assert.equal(firedAt.length, 1)
  })

  test('no timer is left when nothing is armed, and close stops it', () => {
    const { deadlines, firedAt, deadline } = single()
    deadlines.set(deadline, 10)
    deadlines.close()
    run(100)
    assert.deepEqual(firedAt, [])
  })

  test('any sequence of set, clear and stall agrees with a plain list of times', () => {
    const action = fc.oneof(
      { weight: 4, arbitrary: fc.record({ do: fc.constant('set' as const), who: fc.nat(5), ms: fc.nat(20_000) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), who: fc.nat(5), ms: fc.constant(0) }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('run' as const), who: fc.constant(0), ms: fc.nat(3000) }) },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constant('stall' as const), who: fc.constant(0), ms: fc.nat(30_000) }),
      },
    )
    fc.assert(
      fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
        const deadlines = new Deadlines(() => time)
        const due: (number | null)[] = Array.from({ length: 6 }, () => null)
        const all = due.map(
          (_, who) =>
            new Deadline(() => {
              assert.ok(due[who] !== null && due[who]! <= time, 'fired early or when clear')
              due[who] = null
            }),
        )
        for (const { do: what, who, ms } of actions) {
          if (what === 'set') {
            deadlines.set(all[who]!, ms)
            due[who] = time + ms
          } else if (what === 'clear') {
            deadlines.clear(all[who]!)
            due[who] = null
          } else if (what === 'run') run(ms)
          else {
            // The event loop was blocked: every timer of that time is late and sees its end.
            time += ms
            mock.timers.tick(ms)
          }
          if (what === 'run' && ms >= 2 * TICK) {
            for (const at of due) assert.ok(at === null || at > time - 2 * TICK, 'overdue')
          }
        }
        deadlines.close()
      }),
      { seed: 5, numRuns: 150 },
    )
  })
})

function single(): { deadlines: Deadlines; firedAt: number[]; deadline: Deadline } {
  const firedAt: number[] = []
  return { deadlines: new Deadlines(() => time), firedAt, deadline: new Deadline(() => firedAt.push(time)) }
}

/** Both clocks move together, in small steps. */
function run(ms: number): void {
  for (let left = ms; left > 0; left -= 4) {
    const step = Math.min(4, left)
    time += step
    mock.timers.tick(step)
  }
}
