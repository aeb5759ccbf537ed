import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { request } from '../packages/gateway/src/testing/client.ts'
import type { ClientFormatName } from './clients.ts'
import { limits } from './limits.ts'
import { type Stand, startStand } from './stand.ts'
import { targets } from './targets.ts'

export function limitCells(): void {
  it('docs/llm.md names every field that is refused', () => {
    const page = readFileSync(new URL('../docs/llm.md', import.meta.url), 'utf8')
    const fields = limits.flatMap(({ asks }) => Object.values(asks).flatMap((list) => list.map(({ field }) => field)))
    assert.deepEqual(
      fields.filter((field) => !page.includes(`\`${field}\``)),
      [],
    )
  })
  for (const target of targets) {
    describe(`limits of ${target.name}`, () => {
      let stand: Stand
      before(async () => {
        stand = await startStand(target)
      })
      after(() => stand.close())

      for (const { what, asks, refusedBy } of limits) {
        for (const format of FORMATS) {
          if (!refusedBy(target.upstream[format], target)) continue
          for (const [at, ask] of (asks[format] ?? []).entries()) {
            it(`${what} in ${format}, ${at + 1}`, async () => {
              const asked = stand.fake.seen.length
              const body = JSON.stringify({ model: target.model, ...ask.body })
              const headers = { 'content-type': 'application/json' }
              const reply = await request(stand.gateway.port(), { method: 'POST', path: PATHS[format], headers, body })
              assert.equal(reply.status, 400, reply.body)
              const { error } = JSON.parse(reply.body) as { error: { message: string; param?: string } }
              assert.ok(`${error.param ?? ''} ${error.message}`.includes(ask.field), reply.body)
              assert.equal(stand.fake.seen.length, asked, 'the provider was not asked')
            })
          }
        }
      }
    })
  }
}

const FORMATS: ClientFormatName[] = ['completions', 'messages', 'responses']
const PATHS: Record<ClientFormatName, string> = {
  completions: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
}
