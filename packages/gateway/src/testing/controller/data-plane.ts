import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Ir } from '../../ir/resources.ts'
import { ReachedServices } from '../../process/config/reached-services.ts'
import { ControllerSource, type ControllerSourceOptions } from '../../sources/controller/controller.ts'
import { KeptConfig } from '../../stream/kept-config.ts'
import { createLogger } from '../../telemetry/log/logger.ts'
import { parseLogFilter } from '../../telemetry/log/log-filter.ts'
import { ServiceAddresses } from '@portico/http/client'

/** A data plane without ports: what a controller tells it, and what it makes of that. */
export interface TestDataPlane {
  source: ControllerSource
  /** The configs that went live, in order. */
  applied: Ir[]
  /** Rejects the next configs with these problems. */
  refuse: (problems: string[]) => void
  /** The next configs wait until the returned function is called. */
  pause: () => () => void
  /** Sets whether the workers of the data plane are running. */
  serve: (isServing: boolean) => void
  addresses: () => Record<string, readonly string[]>
  log: () => string
  start: () => Promise<void>
}

type TestDataPlaneOptions = Partial<ControllerSourceOptions> &
  Pick<ControllerSourceOptions, 'address' | 'caFile' | 'tokenFile'> & {
    /** The folder that stores the last config; nothing is stored when left out. */
    folder?: string
    key?: string
  }

export const SESSION_KEY = '0123456789abcdef'.repeat(4)

export function useDataPlane(
  t: TestContext,
  { folder, key = SESSION_KEY, gateway = 'shop/edge', ...more }: TestDataPlaneOptions,
): TestDataPlane {
  const filter = parseLogFilter('debug')
  assert.ok(filter.ok)
  let lines = ''
  const root = createLogger({ filter: filter.value, format: 'text', write: (line) => void (lines += line) })
  const log = root.child('controller')
  const workers = new ServiceAddresses()
  const services = new ReachedServices((change) => workers.take(change))
  const applied: Ir[] = []
  let problems: string[] = []
  let gate = Promise.resolve()
  let isServing = true
  const source = new ControllerSource({
    gateway,
    instance: 'pod-1',
    version: '1.2.3',
    firstPauseMs: 10,
    mostPauseMs: 40,
    target: {
      services,
      quarantined: () => [],
      isServing: () => isServing,
      async apply(ir) {
        await gate
        if (problems.length > 0) return problems
        applied.push(ir)
        services.wentLive(ir)
        return []
      },
    },
    kept: folder === undefined ? null : new KeptConfig({ folder, keys: [key], gateway, log, gapMs: 20 }),
    log,
    ...more,
  })
  t.after(() => source.close())
  return {
    source,
    applied,
    refuse: (wanted) => void (problems = wanted),
    pause() {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
    serve(wanted) {
      isServing = wanted
      source.checkServing()
    },
    addresses: () => Object.fromEntries(workers.whole().put),
    log: () => lines,
    start: () => source.start(),
  }
}
