import { Coverage } from '../config-tests/coverage.ts'
import { HashStandIns } from '../config-tests/hash-stand-ins.ts'
import { TrustedIssuer } from '../config-tests/trusted-issuer.ts'
import type { Explanation } from '../findings/explanation.ts'
import type { Ir } from '../ir/resources.ts'
import { recordTest } from '../recorded-tests/record-test.ts'
import { RecordStore } from '../telemetry/recorder/record-store.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { VERSION } from '../version.ts'
import { CAPSULE_FORMAT, type Capsule } from './capsule.ts'
import { capsuleConfig } from './capsule-config.ts'
import { sliceOf } from './slice.ts'
import { StandInSecrets } from './stand-in-secrets.ts'

interface CapsuleInput {
  readonly record: RequestRecord
  /** The config that decided the request. */
  readonly ir: Ir
  readonly explanation: Explanation
}

/** Writes the capsule of a recorded request; returns the reason as a string when there is no capsule. */
export async function makeCapsule({ record, ir, explanation }: CapsuleInput): Promise<Capsule | string> {
  const slice = sliceOf(ir, record)
  if (slice === null) return 'the request reached no listener, so no config decided it'
  const secrets = new StandInSecrets()
  // All secrets of the config are replaced, because a request may contain secrets of other routes.
  secrets.replaceIn(ir)
  const config = secrets.replaceIn(slice)
  const endpoints = endpointsOf(slice, record)
  const { test, problem, replaced } = await replayable(secrets.scrub(record), { config, endpoints })
  const { headline, code, decidedBy, values, rules, calls } = explanation
  const capsule: Capsule = {
    ...{ capsule: CAPSULE_FORMAT, version: VERSION, request: record.id, at: new Date(record.at).toISOString() },
    decision: secrets.scrub({
      ...{ status: record.status, headline, code, decidedBy, values, rules, calls, steps: record.steps ?? [] },
    }),
    ...{ replaced: [...replaced, ...(secrets.isEmpty ? [] : [OF_CONFIG])], problem, test, config, endpoints },
  }
  return secrets.isIn(JSON.stringify(capsule)) ? 'a secret of the config could not be removed' : capsule
}

/** Returns the test of a record, checked against the config as a replay reads it. */
async function replayable(
  record: RequestRecord,
  input: Pick<Capsule, 'config' | 'endpoints'>,
): Promise<Pick<Capsule, 'test' | 'problem' | 'replaced'>> {
  const config = await capsuleConfig(input)
  if (!config.ok) return { test: null, problem: config.problems.join('; '), replaced: [] }
  const issuer = new TrustedIssuer()
  issuer.trustIn(config.ir)
  const hashes = new HashStandIns(config.ir, null)
  const result = await recordTest(record, {
    config,
    issuer,
    hashes,
    coverage: new Coverage(config),
    records: new RecordStore(),
  })
  return result.kind === 'test'
    ? { test: result.test, problem: null, replaced: result.replaced }
    : { test: null, problem: result.reason, replaced: [] }
}

/** Returns an address for each Kubernetes Service; configs do not have these addresses, and a replay needs them. */
function endpointsOf({ backends }: Ir, { endpoint, keys }: RequestRecord): Record<string, string[]> {
  const services = backends.filter(({ target }) => target.kind === 'service' || isPool(target))
  const entries = services.map(({ key }, index): [string, string[]] => {
    const isCalled = key === keys.backend && endpoint !== null
    return [key, [isCalled ? endpoint : `127.0.0.1:${index + 1}`]]
  })
  return Object.fromEntries(entries)
}

function isPool(target: Ir['backends'][number]['target']): boolean {
  return target.kind === 'inferencePool' && target.endpoints === null
}

const OF_CONFIG = 'credentials, keys and certificates of the config'
