import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { planWorkers } from './worker-settings.ts'

const file = { isQuickStart: false, isControlled: false }
const linux = { cores: 8, canSharePorts: true }

describe('the plan of workers', () => {
  test('has a worker for each core unless the config says otherwise', () => {
    assert.deepEqual(planWorkers({ workers: 'auto' }, file, linux), { workers: 8, isOneThread: false })
    assert.deepEqual(planWorkers({ workers: 3 }, file, linux), { workers: 3, isOneThread: false })
  })

  test('is one thread for a single worker', () => {
    const one = { workers: 1, isOneThread: true }
    assert.deepEqual(planWorkers({ workers: 1 }, file, linux), one)
    assert.deepEqual(planWorkers({ workers: 'auto' }, file, { ...linux, cores: 1 }), one)
    assert.deepEqual(planWorkers({ workers: 'auto' }, { ...file, isQuickStart: true }, linux), one)
    assert.deepEqual(planWorkers({ workers: 4 }, file, { ...linux, canSharePorts: false }), one)
  })

  test('gives a single worker its own thread when the config or a controller asks for it', () => {
    const separate = { workers: 1, isOneThread: false }
    assert.deepEqual(planWorkers({ workers: 1, separateWorker: true }, file, linux), separate)
    assert.deepEqual(planWorkers({ workers: 1 }, { ...file, isControlled: true }, linux), separate)
  })

  test('never shares the main thread with one of several workers', () => {
    const plan = planWorkers({ workers: 2, separateWorker: false }, file, linux)
    assert.deepEqual(plan, { workers: 2, isOneThread: false })
    const alone = planWorkers({ workers: 1, separateWorker: false }, { ...file, isControlled: true }, linux)
    assert.equal(alone.isOneThread, true)
  })
})
