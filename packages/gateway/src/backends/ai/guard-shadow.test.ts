import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import '../../testing/all-features.ts'

const model: OriginHandler = (_seen, response) => {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'm', choices }))
}

async function useGuards(t: TestContext, promptGuard: object, handler = model, backends: object[] = []) {
  const origin = await useOrigin(t, handler)
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const route = { policies: { backend: { ai: { promptGuard } } }, backends: [{ ai: { provider } }] }
  const gateway = await useGateway(t, { ...httpConfig([route]), backends })
  const ask = (content: string, more: object = {}) => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more })
    return request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body })
  }
  const outcomes = () =>
    gateway.records.map(({ shadows }) => shadows?.outcomes.map(({ outcome, text }) => [outcome, text]))
  return { origin, gateway, ask, outcomes }
}

const rejecting = (word: string) => ({ regex: { action: 'Reject', matches: [word] } })
const masking = { regex: { builtins: ['Email'] } }

for (const promptGuard of [
  { mode: 'Shadow', request: [masking, rejecting('secret')] },
  { shadow: { request: [masking, rejecting('secret')] } },
]) {
  test(`guards of a shadow change no prompt: ${Object.keys(promptGuard).join(', ')}`, async (t) => {
    const { origin, gateway, ask, outcomes } = await useGuards(t, promptGuard)
    const plain = await useGuards(t, {})
    const prompts = ['hi', 'mail ann@example.com', 'the secret']
    for (const [index, prompt] of prompts.entries()) {
      assert.equal((await ask(prompt)).status, 200)
      await gateway.finished(index + 1)
      await plain.ask(prompt)
    }
    assert.deepEqual(
      origin.seen.map(({ body }) => body),
      plain.origin.seen.map(({ body }) => body),
    )
    const [first, second, third] = outcomes()
    assert.deepEqual(first, [['allowed', 'would have allowed the request']])
    assert.match(JSON.stringify(second), /^\[\["allowed","would have masked the request: /)
    assert.match(JSON.stringify(third), /^\[\["denied","would have denied the request: /)
    assert.match(gateway.metrics(), /portico_shadow_total\{policy="promptGuard",.*outcome="denied"\} 1$/m)
  })
}

test('a shadow whose guard fails is an error, and the call goes on', async (t) => {
  const service = await useOrigin(t, (_seen, response) => void response.writeHead(500).end())
  const judge = { name: 'judge', static: { host: '127.0.0.1', port: service.port } }
  const promptGuard = { mode: 'Shadow', request: [masking, { webhook: { backendRef: { name: 'judge' } } }] }
  const { gateway, ask, outcomes } = await useGuards(t, promptGuard, model, [judge])
  assert.equal((await ask('mail ann@example.com')).status, 200)
  await gateway.finished(1)
  assert.equal(service.seen.length, 1)
  assert.match(JSON.stringify(outcomes()[0]), /^\[\["error","a guard of the request failed: /)
})

test('new guards are tried next to those that hold', async (t) => {
  const promptGuard = { request: [rejecting('old')], shadow: { request: [rejecting('new')] } }
  const { gateway, ask, outcomes } = await useGuards(t, promptGuard)
  const statuses: number[] = []
  for (const [index, prompt] of ['old', 'new', 'none'].entries()) {
    statuses.push((await ask(prompt)).status)
    await gateway.finished(index + 1)
  }
  assert.deepEqual(statuses, [403, 200, 200])
  assert.deepEqual(
    outcomes().map((each) => each?.[0]?.[0]),
    ['allowed', 'denied', 'allowed'],
  )
})

for (const isStream of [false, true]) {
  test(`guards of a shadow judge ${isStream ? 'a stream' : 'a response'} that flows on unchanged`, async (t) => {
    const said = 'mail ann@example.com'
    const handler: OriginHandler = (_seen, response) => {
      const common = { id: '1', created: 1, model: 'm' }
      if (!isStream) {
        const choices = [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }]
        response.setHeader('content-type', 'application/json')
        return void response.end(JSON.stringify({ ...common, object: 'chat.completion', choices }))
      }
      response.setHeader('content-type', 'text/event-stream')
      const piece = (delta: object, finish: string | null) =>
        `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
      for (const letter of said) response.write(piece({ content: letter }, null))
      response.end(`${piece({}, 'stop')}data: [DONE]\n\n`)
    }
    const { gateway, ask, outcomes } = await useGuards(t, { mode: 'Shadow', response: [masking] }, handler)
    const plain = await useGuards(t, {}, handler)
    const more = isStream ? { stream: true } : {}
    const [found, expected] = [await ask('hi', more), await plain.ask('hi', more)]
    assert.deepEqual([found.status, found.body], [200, expected.body])
    await gateway.finished(1)
    assert.match(JSON.stringify(outcomes()[0]), /^\[\["allowed","would have masked the response: /)
  })
}
