import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type ApiKind, pathOf } from '../../packages/controller/src/kube/kinds.ts'
import { inResource, validate } from '../../packages/gateway/src/exports/schema.ts'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { crdFiles } from '../../packages/translate/src/generate/crds.ts'
import { API_GROUP, API_VERSION } from '../../packages/translate/src/resources/api-group.ts'
import { type OwnKind, ownKinds } from '../../packages/translate/src/resources/own-kinds.ts'
import type { Resource } from '../../packages/translate/src/resources/resource.ts'
import { INEXPRESSIBLE, mutants } from '../../packages/translate/src/testing/mutants.ts'
import { ownFixtures } from '../../packages/translate/src/testing/own-fixtures.ts'
import { type Bed, startBed } from './bed/bed.ts'
import { withoutBed } from './bed/programs.ts'

const PATIENCE_MS = 300_000
const root = new URL('../../', import.meta.url)

describe('the definitions of the own kinds before a real API server', { skip: withoutBed }, () => {
  let bed: Bed
  before(async () => {
    bed = await startBed({ parts: 'api', gatewayApi: 'none' })
    // Fails where a definition is not structural, or a rule costs too much.
    await bed.apply(...[...crdFiles().keys()].map((path) => readFileSync(new URL(path, root), 'utf8')))
    for (const { kind } of ownKinds) {
      const empty = { apiVersion: `${API_GROUP}/${API_VERSION}`, kind, metadata: { name: 'a', namespace: 'default' } }
      await eventually(`${kind} is served`, async () => !(await refusalOf(empty)).includes('404'), PATIENCE_MS)
    }
  })
  after(async () => bed.stop())

  /** The error of the API server for creating a resource (dry run); empty when it accepts the resource. */
  async function refusalOf(resource: Resource): Promise<string> {
    try {
      await bed.client.ask({
        method: 'POST',
        path: pathOf(apiKind(resource.kind), { namespace: 'default' }),
        query: { dryRun: 'All', fieldValidation: 'Strict' },
        body: resource,
      })
      return ''
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  it('admits every valid fixture', async () => {
    for (const { resource } of ownFixtures('valid')) assert.equal(await refusalOf(resource), '', resource.metadata.name)
  })

  it('refuses every invalid fixture, in the expected words', async () => {
    for (const { resource, expected } of ownFixtures('invalid')) {
      const said = await refusalOf(resource)
      assert.ok(expected !== null && said.includes(expected.admission), `${resource.metadata.name}: ${said}`)
    }
  })

  it('admits what validation accepts, and the other way round', async () => {
    for (const own of ownKinds) {
      const fixtures = [...ownFixtures('valid'), ...ownFixtures('invalid')].filter(
        ({ resource }) => resource.kind === own.kind,
      )
      const all = fc.sample(mutants(fixtures.map(({ resource }) => resource)), { seed: 23, numRuns: 100 })
      for (const resource of all) await compare(own, resource)
    }
  })

  async function compare(own: OwnKind, resource: Resource): Promise<void> {
    const refusal = await refusalOf(resource)
    const read = validate(inResource(own.spec), resource.spec)
    const said = JSON.stringify({ spec: resource.spec, problems: read.ok ? [] : read.problems })
    if (read.ok) assert.equal(refusal, '', said)
    else if (read.problems.some(({ code }) => !INEXPRESSIBLE.has(code))) assert.notEqual(refusal, '', said)
  }

  it('takes statuses apart from specs', async () => {
    const [valid] = ownFixtures('valid').filter(({ resource }) => resource.kind === 'GwPolicy')
    assert.ok(valid !== undefined)
    await bed.apply(valid.resource)
    const condition = {
      type: 'Accepted',
      status: 'True',
      reason: 'Valid',
      message: 'Policy accepted',
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    }
    const ancestors = [
      { ancestorRef: { name: 'edge' }, controllerName: 'portico.dev/gateway', conditions: [condition] },
    ]
    await bed.client.ask({
      method: 'PATCH',
      path: pathOf(apiKind('GwPolicy'), { namespace: 'default', name: valid.resource.metadata.name, part: 'status' }),
      contentType: 'application/merge-patch+json',
      body: { status: { ancestors } },
    })
    const table = await bed.kubectl('get', 'gwpol', '-n', 'default')
    assert.match(table, /NAME +ACCEPTED +ATTACHED +AGE\s+edge +True/)
  })
})

function apiKind(kind: string): ApiKind {
  const own = ownKinds.find((each) => each.kind === kind)
  assert.ok(own !== undefined, kind)
  return { group: API_GROUP, version: API_VERSION, kind, plural: own.plural, namespaced: true }
}
