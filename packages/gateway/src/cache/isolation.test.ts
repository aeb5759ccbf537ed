import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cacheOf, type CacheScene, CHAT, setUp, textOf } from './testing/scene.ts'

const data = { ann: { key: 'key-ann-1234' }, bob: { key: 'key-bob-1234' } }
const keys = { apiKeyAuthentication: { secretRef: { data } } }
/** The password is `secret`. */
const users = ['alice:$2y$04$0LlrKdGzhnJOGxe7KgqIJO5SL4Kx58ry5fWpG/O4CkCTWszILvLyO']

describe('answers from the cache stay with their tenant', () => {
  const cases: readonly [
    name: string,
    scene: CacheScene,
    one: Record<string, string>,
    other: Record<string, string>,
  ][] = [
    ['credential', {}, { authorization: 'Bearer one' }, { authorization: 'Bearer two' }],
    ['key header', {}, { authorization: '', 'x-api-key': 'one' }, { authorization: '', 'x-api-key': 'two' }],
    ['cookie', {}, { authorization: '', cookie: 's=1' }, { authorization: '', cookie: 's=2' }],
    ['API key', { policies: keys }, { authorization: 'Bearer key-ann-1234' }, { authorization: 'Bearer key-bob-1234' }],
    [
      'scope of the config',
      { cache: { scope: 'request.headers["x-team"]' } },
      { 'x-team': 'red' },
      { 'x-team': 'blue' },
    ],
    ['added key', { cache: { key: 'request.headers["x-version"]' } }, { 'x-version': '1' }, { 'x-version': '2' }],
    ['beta feature', {}, {}, { 'openai-beta': 'x' }],
  ]
  for (const [name, scene, one, other] of cases) {
    test(`another ${name} gets an answer of its own`, async (t) => {
      const { chat } = await setUp(t, scene)
      const answers = [await chat({}, one), await chat({}, other), await chat({}, one), await chat({}, other)]
      assert.deepEqual(answers.map(textOf), ['answer 1', 'answer 2', 'answer 1', 'answer 2'])
      assert.deepEqual(answers.map(cacheOf), ['miss', 'miss', 'hit; age=0', 'hit; age=0'])
    })
  }

  test('two requests of one user share an answer, whatever else differs', async (t) => {
    const { chat } = await setUp(t, { policies: { basicAuthentication: { users } } })
    const headers = { authorization: `Basic ${Buffer.from('alice:secret').toString('base64')}` }
    const answers = [
      await chat({}, { ...headers, 'user-agent': 'a', 'x-request-id': '1' }),
      await chat({}, { ...headers, 'user-agent': 'b', 'x-request-id': '2' }),
    ]
    assert.deepEqual(answers.map(cacheOf), ['miss', 'hit; age=0'])
  })

  for (const [name, scene, reason] of [
    ['no identity is known', {}, 'no-identity'],
    ['the scope fails', { cache: { scope: 'request.headers["x-team"]' } }, 'scope'],
    ['the scope is empty', { cache: { scope: '""' } }, 'scope'],
    ['the key fails', { cache: { scope: '"all"', key: 'jwt.sub' } }, 'key'],
    ['the condition fails', { cache: { scope: '"all"', when: 'jwt.admin' } }, 'when'],
  ] as const) {
    test(`nothing is stored when ${name}`, async (t) => {
      const { chat, seen, gateway } = await setUp(t, { ...scene })
      for (const expected of ['answer 1', 'answer 2']) {
        const answer = await chat({}, { authorization: '' })
        assert.deepEqual([textOf(answer), cacheOf(answer)], [expected, `bypass; reason=${reason}`])
      }
      assert.equal(seen.length, 2)
      await gateway.finished(2)
      assert.deepEqual(gateway.recorded()[0]?.llm?.cache, { status: 'bypass', reason })
    })
  }

  test('a scope with one value shares answers between all clients', async (t) => {
    const { chat, seen } = await setUp(t, { cache: { scope: '"all"' } })
    for (const authorization of ['Bearer one', 'Bearer two', '']) await chat({}, { authorization })
    assert.equal(seen.length, 1)
  })

  test('two requests share an answer only if their bodies are equal, in any order of members', async (t) => {
    const { ask, chat } = await setUp(t)
    const path = '/v1/chat/completions'
    assert.equal(cacheOf(await ask(path, { ...CHAT, seed: 1 })), 'miss')
    assert.equal(
      cacheOf(await ask(path, { seed: 1, messages: [{ content: 'hi', role: 'user' }], model: 'gpt-test' })),
      'hit; age=0',
    )
    for (const other of [
      { seed: 2 },
      { seed: 1, model: 'gpt-test-2' },
      { seed: 1, user: 'ann' },
      { seed: 1, stream: true },
    ]) {
      assert.equal(cacheOf(await chat(other)), 'miss', JSON.stringify(other))
    }
  })

  test('numbers that a double cannot tell apart are different', async (t) => {
    const { gateway } = await setUp(t)
    const send = (id: string) =>
      fetch(`http://127.0.0.1:${gateway.port()}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: 'Bearer ann', 'content-type': 'application/json' },
        body: `{"model":"gpt-test","messages":[{"role":"user","content":"hi"}],"seed":${id}}`,
      })
    const answers = [await send('90071992547409931'), await send('90071992547409932')]
    assert.deepEqual(
      await Promise.all(
        answers.map(async (answer) => [answer.headers.get('x-portico-cache'), textOf({ body: await answer.text() })]),
      ),
      [
        ['miss', 'answer 1'],
        ['miss', 'answer 2'],
      ],
    )
  })
})

describe('a reload', () => {
  test('keeps answers unless the provider changes', async (t) => {
    const { chat, gateway, config, seen } = await setUp(t)
    await chat()
    const change = (edit: (text: string) => string) => gateway.reload(edit(JSON.stringify(config)))
    await change((text) => text.replace('"ttl":"1m"', '"ttl":"2m"'))
    assert.equal(cacheOf(await chat()), 'hit; age=0')
    await change((text) => text.replace('"openai":{}', '"openai":{"model":"gpt-other"}'))
    assert.equal(cacheOf(await chat()), 'miss')
    await change((text) => text)
    assert.equal(cacheOf(await chat()), 'hit; age=0')
    assert.equal(seen.length, 2)
  })

  test('that removes the cache stops serving from it, and one that brings it back finds its answers', async (t) => {
    const { chat, gateway, config } = await setUp(t)
    await chat()
    const text = JSON.stringify(config)
    await gateway.reload(text.replace('"cache":{"ttl":"1m"}', '"defaults":[{"field":"n","value":1}]'))
    assert.equal(cacheOf(await chat()), undefined)
    await gateway.reload(text)
    assert.equal(cacheOf(await chat()), 'hit; age=0')
  })
})
