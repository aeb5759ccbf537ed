import assert from 'node:assert/strict'
import { test } from 'node:test'
import { IdleMemory } from './idle-memory.ts'

const MB = 2 ** 20

function useMemory(number = 0) {
  const state = { busy: 0, bytes: 30 * MB, releases: 0, mayRelease: true }
  const memory = new IdleMemory({
    busyShare: () => state.busy,
    heapBytes: () => state.bytes,
    number,
    release() {
      if (!state.mayRelease) return false
      state.releases++
      state.bytes = 10 * MB
      return true
    },
  })
  const look = (times: number): number => {
    for (let i = 0; i < times; i++) memory.look()
    return state.releases
  }
  return { state, look }
}

test('memory is given back soon after a start, and later after work', () => {
  const { state, look } = useMemory()
  assert.equal(look(1), 1)
  Object.assign(state, { busy: 0.5, bytes: 60 * MB })
  assert.equal(look(100), 1)
  state.busy = 0.01
  assert.equal(look(6), 1)
  assert.equal(look(1), 2)
})

test('work that comes right after a start is work', () => {
  const { state, look } = useMemory()
  state.busy = 0.5
  look(11)
  state.busy = 0
  assert.equal(look(6), 0)
  assert.equal(look(1), 1)
})

test('threads that fall idle together take turns', () => {
  const releasedAfter = [0, 1, 2, 3, 4].map((number) => {
    const { state, look } = useMemory(number)
    look(1)
    state.bytes = 60 * MB
    let seconds = 0
    while (look(1) === 1) seconds++
    return seconds + 1
  })
  assert.deepEqual(releasedAfter, [7, 8, 9, 7, 8])
})

test('work in between begins the wait anew', () => {
  const { state, look } = useMemory()
  look(1)
  state.bytes = 60 * MB
  for (let i = 0; i < 20; i++) {
    state.busy = 0
    look(4)
    state.busy = 0.2
    look(1)
  }
  assert.equal(state.releases, 1)
})

test('a heap that has hardly grown is left alone', () => {
  const { state, look } = useMemory()
  look(1)
  state.bytes += 3 * MB
  assert.equal(look(100), 1)
  state.bytes += 2 * MB
  assert.equal(look(100), 2)
})

test('memory that could not be released now is released a second later', () => {
  const { state, look } = useMemory()
  state.mayRelease = false
  assert.equal(look(3), 0)
  state.mayRelease = true
  assert.equal(look(1), 1)
})
