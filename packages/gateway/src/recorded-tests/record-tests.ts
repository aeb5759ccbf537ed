import { TrustedIssuer } from '../config-tests/trusted-issuer.ts'
import { HashStandIns } from '../config-tests/hash-stand-ins.ts'
import { RecordStore } from '../telemetry/recorder/record-store.ts'
import { Coverage } from '../config-tests/coverage.ts'
import type { TestedConfig } from '../config-tests/tested-config.ts'
import type { JsonObject } from '../schema/kit.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import type { RecordedTest } from './recorded-test.ts'
import { recordTest } from './record-test.ts'

/** The tests of recorded requests, and the records that have no test. */
export interface RecordedTests {
  readonly tests: readonly RecordedTest[]
  /** The number of records whose test equals the test of an earlier record. */
  readonly alike: number
  readonly replaced: readonly { readonly what: string; readonly count: number }[]
  readonly impossible: readonly { readonly record: RequestRecord; readonly reason: string }[]
}

/** Writes tests of records, the oldest first. The run may change the config. */
export async function recordTests(
  records: readonly RequestRecord[],
  config: TestedConfig,
  world: JsonObject,
): Promise<RecordedTests> {
  const issuer = new TrustedIssuer()
  issuer.trustIn(config.ir)
  const hashes = new HashStandIns(config.ir, null)
  const parts = { config, issuer, hashes, coverage: new Coverage(config), records: new RecordStore() }
  const byContent = new Map<string, RecordedTest>()
  const replaced = new Map<string, number>()
  const impossible: { record: RequestRecord; reason: string }[] = []
  for (const record of records.toSorted((a, b) => a.at - b.at)) {
    const result = await recordTest(record, parts, world)
    if (result.kind === 'impossible') {
      impossible.push({ record, reason: result.reason })
      continue
    }
    const { name: _name, clock: _clock, ...content } = result.test
    const key = JSON.stringify(content)
    if (byContent.has(key)) continue
    byContent.set(key, result.test)
    for (const what of result.replaced) replaced.set(what, (replaced.get(what) ?? 0) + 1)
  }
  return {
    tests: [...byContent.values()],
    alike: records.length - impossible.length - byContent.size,
    replaced: [...replaced].map(([what, count]) => ({ what, count })),
    impossible,
  }
}
