import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { EMPTY_IR } from '../../ir/change.ts'
import type { Ir } from '../../ir/resources.ts'
import { ConfigFault } from '../../pipeline/compiled/config-fault.ts'
import { validate } from '../../schema/validate.ts'
import { fullConfig } from '../../testing/fixtures/full-config.ts'
import { explainIn, unknownParts } from './controller-parts.ts'
import { configFile } from '../schema.ts'
import { translate } from '../translate.ts'

const CASES = fileURLToPath(new URL('../../../../translate/cases', import.meta.url))

/** The configs that a controller of this version creates for the golden cases. */
function* configsOfCases(): Generator<[string, Ir]> {
  for (const { name, parentPath } of readdirSync(CASES, { recursive: true, withFileTypes: true })) {
    if (name !== 'out.yaml') continue
    const { gateways } = parse(readFileSync(join(parentPath, name), 'utf8')) as { gateways: Record<string, Ir> }
    for (const [gateway, ir] of Object.entries(gateways)) yield [`${parentPath}: ${gateway}`, ir]
  }
}

/** All of the file that a controller may send as well. */
function everything(): Ir {
  const result = validate(configFile, fullConfig())
  assert.ok(result.ok)
  const ir = translate(result.value, { backends: [], toolsOf: new Map() })
  for (const { target } of ir.backends) {
    if (target.kind === 'mcp') target.targets = target.targets.filter(({ reached }) => reached.by !== 'stdio')
  }
  return structuredClone(ir)
}

describe('unknown parts of configs', () => {
  it('is all that a controller of its version sends', () => {
    let count = 0
    for (const [place, ir] of configsOfCases()) {
      count += 1
      assert.deepEqual(unknownParts(ir), [], place)
    }
    assert.ok(count > 100)
  })

  it('is every field there is', () => assert.deepEqual(unknownParts(everything()), []))

  it('is not what a newer one has added, in whatever object, but for names that users choose', () => {
    const unnoticed = new Set<string>()
    let noticed = 0
    for (const list of Object.keys(EMPTY_IR) as (keyof Ir)[]) {
      for (const resource of everything()[list]) {
        for (const [path, object] of objectsIn(resource)) {
          object['colour'] = 'blue'
          const problems = unknownParts({ ...EMPTY_IR, [list]: [structuredClone(resource)] })
          delete object['colour']
          const place = [...path, 'colour'].join('.')
          if (problems.some((problem) => problem.replaceAll(/\[(\d+)\]/g, '.$1').includes(`\`${place}\``))) noticed += 1
          else unnoticed.add(`${list}: ${path.filter((name) => !/^\d+$/.test(name)).join('.')}`)
        }
      }
    }
    assert.ok(noticed > 300, `${noticed}`)
    const ofKey = /^(policies: traffic\.apiKeyAuthentication\.secretRef\.data)\.\w+/
    assert.deepEqual(new Set([...unnoticed].map((place) => place.replace(ofKey, '$1.*'))), new Set(OPAQUE))
  })
})

const METADATA = ['request.metadata', 'response.metadata']

/** Mappings with names that users choose, and values parsed from texts: no field is added to these. */
const OPAQUE = [
  'routes: labels',
  'backends: target.groups.config.azureopenai.endpoint',
  'policies: frontend.networkAuthorization.rules',
  ...METADATA.map((place) => `policies: backend.transformation.${place}`),
  ...METADATA.map((place) => `policies: traffic.transformation.${place}`),
  ...METADATA.map((place) => `policies: traffic.transformation.conditional.policy.${place}`),
  'policies: backend.ai.overrides.value',
  'policies: backend.ai.modelAliases',
  'policies: traffic.apiKeyAuthentication.secretRef.data',
  'policies: traffic.apiKeyAuthentication.secretRef.data.*',
  'policies: traffic.apiKeyAuthentication.secretRef.data.*.metadata',
  'policies: traffic.basicAuthentication.users',
  'policies: traffic.jwtAuthentication.providers.jwks.inline',
  'policies: traffic.jwtAuthentication.providers.jwks.inline.members',
  'policies: traffic.jwtAuthentication.providers.jwks.url',
]

function* objectsIn(value: unknown, path: string[] = []): Generator<[string[], Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield [path, value as Record<string, unknown>]
  for (const [name, child] of Object.entries(value)) yield* objectsIn(child, [...path, name])
}

describe('a fault in what a controller sent', () => {
  const ir = everything()
  const backend = ir.backends[0] ?? assert.fail('there are backends')
  const faultOf = (expected: string) => new ConfigFault(backend.target, ['x', 0], { found: 'found this', expected })

  it('is told with its place and what would do', () =>
    assert.equal(explainIn(ir, faultOf('that')), `${backend.key}.target.x.0: found this, expected that`))

  it('says nothing of what would do where nothing is said of it', () =>
    assert.equal(explainIn(ir, faultOf('')), `${backend.key}.target.x.0: found this`))

  it('is nothing that can be told where the part is not there', () => {
    const fault = new ConfigFault({}, [], { found: 'found this', expected: 'that' })
    assert.equal(explainIn(ir, fault), null)
  })
})
