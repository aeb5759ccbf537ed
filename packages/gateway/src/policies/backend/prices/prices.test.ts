import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '../../../sources/file.ts'
import { request } from '../../../testing/client.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
const cached = { ...usage, prompt_tokens_details: { cached_tokens: 400 } }
const RATES = { input: 2.5, cacheRead: 1.25, output: '10' }

const delta = { index: 0, delta: { content: 'hello' }, finish_reason: null }
const chunk = (choices: unknown[], rest: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm-1', choices, ...rest })}\n\n`

/** A model that reports `reported` as its usage, streamed with a choice in the last chunk as some servers do. */
async function useModel(t: TestContext, prices: object, reported: object | null, dir?: string) {
  const origin = await useOrigin(t, ({ body }, response) => {
    const { stream } = JSON.parse(body) as { stream?: boolean }
    const rest = reported === null ? {} : { usage: reported }
    if (stream === true) {
      response.setHeader('content-type', 'text/event-stream')
      const last = { index: 0, delta: {}, finish_reason: 'stop' }
      return response.end(`${chunk([delta], {})}${chunk([last], rest)}data: [DONE]\n\n`)
    }
    response.setHeader('content-type', 'application/json')
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
    return response.end(
      JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'm-1', choices, ...rest }),
    )
  })
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const policies = {
    backend: { prices },
    transformation: { response: { set: [{ name: 'x-cost', value: 'string(llm.cost)' }] } },
  }
  const config = httpConfig([{ policies, backends: [{ ai: { provider } }] }])
  const gateway = await useGateway(t, config, { logFormat: 'json', ...(dir !== undefined && { dir }) })
  const ask = (body: object = {}) =>
    request(gateway.port(), {
      method: 'POST',
      path: '/v1/chat/completions',
      body: JSON.stringify({ model: 'house', messages: [{ role: 'user', content: 'hi' }], ...body }),
    })
  const line = (at: number) => (JSON.parse(gateway.lines[at] ?? '{}') as Record<string, unknown>)['portico.ai.cost_usd']
  return { gateway, ask, line }
}

test('log, metric, record and expression have the same cost', async (t) => {
  const { gateway, ask, line } = await useModel(t, { models: [{ model: 'm-*', rates: RATES }] }, cached)
  const { headers } = await ask()
  await gateway.finished(1)
  assert.equal(headers['x-cost'], '0.003')
  assert.equal(line(0), 0.003)
  assert.match(gateway.metrics(), /portico_llm_cost_usd_total\{.*gen_ai_response_model="m-1".*\} 0\.003\n/)
  assert.deepEqual(gateway.records[0]?.llm?.cost, {
    ...{ kind: 'known', nanoDollars: 3_000_000, row: 'm-*', table: 'config', basis: 'computed' },
  })
})

test('a stream whose last chunk has a choice and the usage costs the same', async (t) => {
  const { gateway, ask, line } = await useModel(t, { models: [{ model: 'm-1', rates: RATES }] }, cached)
  await ask()
  await ask({ stream: true })
  await gateway.finished(2)
  assert.deepEqual([line(0), line(1)], [0.003, 0.003])
})

test('a model without a price has no cost anywhere, and the record has the reason', async (t) => {
  const { gateway, ask, line } = await useModel(t, {}, usage)
  const { headers } = await ask()
  await gateway.finished(1)
  assert.equal(headers['x-cost'], undefined)
  assert.equal(line(0), undefined)
  assert.doesNotMatch(gateway.metrics(), /^portico_llm_cost_usd_total\{/m)
  assert.deepEqual(gateway.records[0]?.llm?.cost, { kind: 'unknown', why: 'no price for m-1' })
})

test('a catalog file has prices, and a wrong one is refused with its place', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const catalog = (rates: object) => JSON.stringify({ providers: { openai: { models: { 'm-1': { rates } } } } })
  writeFileSync(join(dir, 'prices.json'), catalog({ input: '1', output: '2' }))
  const { gateway, ask, line } = await useModel(t, { file: 'prices.json' }, usage, dir)
  await ask()
  await gateway.finished(1)
  assert.equal(line(0), 0.0012)

  const problem = (text: string) => {
    writeFileSync(join(dir, 'bad.json'), text)
    const policies = { backend: { prices: { file: 'bad.json' } } }
    const config = httpConfig([{ policies, backends: [{ ai: { provider: { openai: {} } } }] }])
    const loaded = loadConfig(JSON.stringify(config), { file: 'g.yaml', dir, env: {} })
    return loaded.ok ? 'accepted' : JSON.stringify(loaded.problems)
  }
  assert.match(problem('[]'), /something else than an object with `providers`/)
  assert.match(problem(catalog({ inputs: 1 })), /an unknown class \\"inputs\\" at \\"openai\/m-1\\"/)
  assert.match(problem(catalog({ input: '1e3' })), /a rate of \\"input\\" that is not a decimal/)
  assert.match(problem(catalog({ input: -1 })), /a rate of \\"input\\"/)
})

test('rates that are no decimals are refused with their place', () => {
  for (const input of [-1, 1e-7, '1,5', 1e6, true]) {
    const prices = { models: [{ model: 'm', rates: { input } }] }
    const config = httpConfig([{ policies: { backend: { prices } }, backends: [{ ai: { provider: { openai: {} } } }] }])
    const loaded = loadConfig(JSON.stringify(config), { file: 'g.yaml', dir: '.', env: {} })
    assert.ok(!loaded.ok, String(input))
    assert.match(JSON.stringify(loaded.problems), /rates.*input/)
  }
})
