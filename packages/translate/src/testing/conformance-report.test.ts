import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { supportedFeatures } from '../translate/listeners/supported-features.ts'

interface Part {
  result: string
  statistics: { Failed: number; Passed: number; Skipped: number }
  supportedFeatures?: string[]
  unsupportedFeatures?: string[]
}

interface Report {
  profiles: { name: string; core: Part; extended: Part }[]
}

const file = new URL('../../../../docs/conformance/gateway-api-v1.7.0.yaml', import.meta.url)
const { profiles } = parse(readFileSync(file, 'utf8')) as Report

describe('the report of the official suite', () => {
  it('is of a run in which everything passed', () => {
    assert.deepEqual(profiles.map(({ name }) => name).toSorted(), [
      'GATEWAY-GRPC',
      'GATEWAY-HTTP',
      'GATEWAY-TCP',
      'GATEWAY-TLS',
      'GATEWAY-UDP',
    ])
    for (const { name, core, extended } of profiles) {
      for (const { result, statistics } of [core, extended]) {
        assert.deepEqual([result, statistics.Failed, statistics.Skipped], ['success', 0, 0], name)
      }
    }
  })

  it('claims the features in the status of a GatewayClass', () => {
    const claimed = new Set(profiles.flatMap(({ extended }) => extended.supportedFeatures ?? []))
    assert.deepEqual(
      [...claimed].filter((feature) => !supportedFeatures.includes(feature)),
      [],
    )
    const refused = new Set(profiles.flatMap(({ extended }) => extended.unsupportedFeatures ?? []))
    assert.deepEqual(
      [...refused].filter((feature) => supportedFeatures.includes(feature)),
      [],
    )
    // Features that a profile requires are not extended features.
    const core = ['Gateway', 'HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute', 'ReferenceGrant']
    const others = supportedFeatures.filter((feature) => !claimed.has(feature) && !core.includes(feature))
    assert.deepEqual(others, ['GRPCRouteNamedRouteRule', 'GRPCRouteRequestHeaderModifier'])
  })
})
