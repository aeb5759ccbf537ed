import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import type { AuditView, ChangedKeyView, KeyView, PriceListView, TeamView } from '../admin/keys/keys-view.ts'
import { request } from '../testing/client.ts'
import { eventually, startProgram, useConfigFile } from '../testing/process.ts'
import { httpConfig, useOrigin } from '../testing/scene.ts'

const choices = [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }]
const usage = { prompt_tokens: 1, completion_tokens: 1000, total_tokens: 1001 }
const PRICES = { models: [{ model: 'm', rates: { input: 0, output: 10 } }], table: 'None' }
const FROM_HERE = { 'x-portico-same-origin': '1', 'content-type': 'application/json' }

type Damage = (folder: string) => void
const DAMAGES: readonly (readonly [what: string, damage: Damage, problem: RegExp])[] = [
  [
    'a damaged file',
    (folder) => writeFileSync(join(folder, 'keys.db'), 'damaged '.repeat(1_000)),
    /file is not a database/,
  ],
  ['a newer schema', writeNewerSchema, /schema version 7, and this program knows versions up to 2/],
]

function writeNewerSchema(folder: string): void {
  const database = new DatabaseSync(join(folder, 'keys.db'))
  database.exec('PRAGMA user_version = 7')
  database.close()
}

interface Options {
  readonly store?: object
  readonly env?: Record<string, string>
  readonly damage?: (folder: string) => void
}

/** A program with a store of keys; a thousand output tokens cost a cent. */
async function useKeys(t: TestContext, { store = {}, env = {}, damage }: Options = {}) {
  const origin = await useOrigin(t, (seen, response) => {
    response.setHeader('content-type', 'application/json')
    const list = { object: 'list', data: ['m', 'large'].map((id) => ({ id, object: 'model' })) }
    if (seen.url === '/v1/models') return response.end(JSON.stringify(list))
    return response.end(JSON.stringify({ id: '1', object: 'chat.completion', created: 1, model: 'm', choices, usage }))
  })
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const policies = { apiKeyAuthentication: { store }, backend: { prices: PRICES } }
  const config = useConfigFile(t, {
    ...httpConfig([{ name: 'chat', policies, backends: [{ ai: { provider } }] }]),
    config: { stateDir: 'state', keys: { maxKeys: 100 } },
  })
  const folder = join(config.folder, 'state')
  mkdirSync(folder)
  damage?.(folder)
  const start = async () => {
    const program = await startProgram({ args: ['-f', config.file], env: { WORKER_THREADS: '2', ...env } })
    t.after(() => program.stop())
    const api = async (method: string, path: string, body?: object, headers: Record<string, string> = FROM_HERE) => {
      const answer = await fetch(`${program.admin}/api/${path}`, {
        ...{ method, headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      return { status: answer.status, text, json: () => JSON.parse(text) as unknown }
    }
    const create = async (name: string, fields: object = {}) => {
      const { status, text, json } = await api('POST', 'keys', { name, ...fields })
      assert.equal(status, 201, text)
      return (json() as ChangedKeyView).secret ?? assert.fail('no key')
    }
    const ask = (key: string, { model = 'm', path = '/v1/chat/completions', method = 'POST' } = {}) =>
      request(program.port(), {
        ...{ method, path, headers: { authorization: `Bearer ${key}`, accept: 'application/json' } },
        ...(method === 'POST' && {
          body: JSON.stringify({ model, max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] }),
        }),
      })
    /** Enough requests on new connections to reach both workers. */
    const statuses = async (key: string) =>
      new Set((await Promise.all(Array.from({ length: 24 }, () => ask(key)))).map(({ status }) => status))
    return { program, api, create, ask, statuses }
  }
  return { ...(await start()), origin, folder, start }
}

describe('a price of the store', () => {
  test('holds for the next call on every worker, has an audit entry, and ends when it is removed', async (t) => {
    const { api, create, ask, statuses } = await useKeys(t)
    const key = await create('bot', { budgets: [{ usd: 1, per: 'Day' }] })
    const spent = async () => {
      const [budget] = ((await api('GET', 'keys/bot')).json() as KeyView).budgets ?? []
      return budget?.spent
    }
    await ask(key)
    await eventually('the price of the config', async () => (await spent()) === '0.01')
    const price = { provider: 'openai', model: 'm', rates: { input: 0, output: '20' } }
    const set = await api('POST', 'prices', price)
    assert.equal(set.status, 200, set.text)
    await ask(key)
    await eventually('the price of the store', async () => (await spent()) === '0.03')
    assert.equal((await api('POST', 'prices', { ...price, rates: { output: 0, input: 0 } })).status, 200)
    assert.deepEqual(await statuses(key), new Set([200]))
    await eventually('nothing is reserved', async () => (await spent()) === '0.03')
    const { prices } = (await api('GET', 'prices')).json() as PriceListView
    assert.deepEqual(
      prices.map(({ changed: _changed, ...each }) => each),
      [{ provider: 'openai', model: 'm', rates: { input: 0, output: 0 } }],
    )
    assert.equal((await api('DELETE', 'prices?provider=openai&model=m')).status, 200)
    assert.equal((await api('DELETE', 'prices?provider=openai&model=m')).status, 404)
    await ask(key)
    await eventually('the price of the config again', async () => (await spent()) === '0.04')
    const { entries } = (await api('GET', 'audit?kind=price')).json() as AuditView
    assert.deepEqual(
      entries.map(({ action, name, by }) => [action, name, by.startsWith('no token, from 127.0.0.1')]),
      [
        ['delete', 'openai/m', true],
        ['change', 'openai/m', true],
        ['create', 'openai/m', true],
      ],
    )
  })

  test('stays after a restart, and is refused with a reason', async (t) => {
    const { api, program, start } = await useKeys(t)
    for (const [body, problem] of [
      [{ model: 'm' }, /expected at least one of/],
      [{ model: 'm', rates: { input: '1,5' } }, /rates\.input: found .*, expected a decimal/],
      [{ model: 'm\n', perCall: 1 }, /control characters/],
      [{ provider: '*', model: 'm', perCall: 1 }, /provider: expected/],
      [{ model: 'm', perCalls: 1 }, /did you mean `perCall`/],
    ] as const) {
      const { status, text } = await api('POST', 'prices', body)
      assert.equal(status, 400, text)
      assert.match(text, problem)
    }
    assert.equal((await api('DELETE', 'prices')).status, 400)
    const tiers = [{ contextOver: 1000, rates: { input: 2 } }]
    const price = { model: 'm*', rates: { input: 1, output: 2.5 }, perCall: 3, units: { image: 0.04 }, tiers }
    assert.equal((await api('POST', 'prices', price)).status, 200)
    await program.stop()
    const next = await start()
    const { prices } = (await next.api('GET', 'prices')).json() as PriceListView
    assert.deepEqual(
      prices.map(({ changed: _changed, ...each }) => each),
      [price],
    )
  })
})

describe('a key of the store', () => {
  test('is accepted by every worker at once, and refused at once when it is disabled or revoked', async (t) => {
    const { api, create, statuses, ask } = await useKeys(t)
    assert.equal((await ask('pk_live_unknown')).status, 401)
    const key = await create('bot')
    assert.match(key, /^pk_live_[\w-]{43}$/)
    assert.deepEqual(await statuses(key), new Set([200]))
    for (const [action, status] of [
      ['disable', 401],
      ['enable', 200],
      ['revoke', 401],
    ] as const) {
      assert.equal((await api('POST', `keys/bot/${action}`)).status, 200)
      assert.deepEqual(await statuses(key), new Set([status]), action)
    }
    assert.equal((await api('POST', 'keys/bot/enable')).status, 409)
    assert.equal((await api('DELETE', 'keys/bot')).status, 200)
    assert.equal((await api('GET', 'keys/bot')).status, 404)
    assert.deepEqual(await statuses(await create('bot')), new Set([200]))
  })

  test('is rotated: the new one works at once, the old one as long as said', async (t) => {
    const { api, create, ask } = await useKeys(t)
    const old = await create('bot', { team: undefined })
    const rotate = async (overlap: string) =>
      ((await api('POST', 'keys/bot/rotate', { overlap })).json() as ChangedKeyView).secret ?? assert.fail('no key')
    const next = await rotate('1h')
    assert.deepEqual([(await ask(old)).status, (await ask(next)).status], [200, 200])
    const last = await rotate('0s')
    const found = await Promise.all([old, next, last].map(async (key) => (await ask(key)).status))
    assert.deepEqual(found, [401, 401, 200])
  })

  test('has its own models, in requests and in the list of models', async (t) => {
    const { create, ask } = await useKeys(t)
    const key = await create('bot', { models: ['m', 'small-*'] })
    assert.equal((await ask(key)).status, 200)
    assert.equal((await ask(key, { model: 'small-2' })).status, 200)
    const refused = await ask(key, { model: 'large' })
    assert.equal(refused.status, 403)
    assert.match(refused.body, /"code":"model_not_allowed"/)
    assert.match(refused.body, /this client may not use it/)
    const { data } = JSON.parse((await ask(key, { path: '/v1/models', method: 'GET' })).body) as {
      data: { id: string }[]
    }
    assert.deepEqual(
      data.map(({ id }) => id),
      ['m'],
    )
  })

  test('may be for some routes only, and for some time', async (t) => {
    const { create, ask } = await useKeys(t)
    assert.equal((await ask(await create('here', { routes: ['chat'] }))).status, 200)
    const elsewhere = await ask(await create('elsewhere', { routes: ['other'] }))
    assert.equal(elsewhere.status, 403)
    assert.match(elsewhere.body, /the key elsewhere may not use the route chat/)
    const early = await ask(await create('early', { notBefore: '2999-01-01T00:00:00Z' }))
    assert.deepEqual([early.status, /not valid yet/.test(early.body)], [401, true])
    const late = await ask(await create('late', { expires: '2001-01-01T00:00:00Z' }))
    assert.deepEqual([late.status, /has expired/.test(late.body)], [401, true])
  })
})

describe('limits of keys and teams', () => {
  test('hold for all keys of a team, and the answer names the first one that is over', async (t) => {
    const { api, create, ask } = await useKeys(t)
    const dollars = (usd: number) => [{ usd, per: 'Month' }]
    assert.equal((await api('POST', 'teams', { name: 'company', budgets: dollars(0.03) })).status, 201)
    const team = { name: 'support', parent: 'company', budgets: dollars(0.02) }
    assert.equal((await api('POST', 'teams', team)).status, 201)
    assert.equal((await api('POST', 'teams', { name: 'sales', parent: 'company' })).status, 201)
    const [one, two] = [
      await create('one', { team: 'support', budgets: dollars(0.01) }),
      await create('two', { team: 'support' }),
    ]
    const three = await create('three', { team: 'sales' })
    const outcome = async (key: string) => {
      const { status, body } = await ask(key)
      return status === 200 ? 'passed' : /budget exceeded: the (\w+ \w+)/.exec(body)?.[1]
    }
    const found = []
    for (const key of [one, one, two, two, three, three]) found.push(await outcome(key))
    assert.deepEqual(found, ['passed', 'key one', 'passed', 'team support', 'passed', 'team company'])
    const view = (await api('GET', 'keys/one')).json() as KeyView
    assert.deepEqual([view.budgets?.[0]?.spent, view.budgets?.[0]?.left], ['0.01', '0.00'])
  })

  test('count requests, and tokens of whole responses', async (t) => {
    const { create, ask } = await useKeys(t)
    const one = await create('one', { limits: [{ requests: 1, unit: 'Hours' }] })
    assert.deepEqual([(await ask(one)).status, (await ask(one)).status], [200, 429])
    const two = await create('two', { limits: [{ tokens: 1001, unit: 'Hours' }] })
    assert.equal((await ask(two)).status, 200)
    // The tokens are counted when the response has ended, which the client may know first.
    let refused = await ask(two)
    await eventually('the tokens are counted', async () => {
      if (refused.status !== 429) refused = await ask(two)
      return refused.status === 429
    })
    assert.match(refused.body, /limit exceeded: the key two \(1,001 tokens per hour\) is used up/)
    assert.ok(Number(refused.headers['retry-after']) >= 1)
  })

  test('hold calls at once over both workers', async (t) => {
    const { create, ask, origin } = await useKeys(t)
    const key = await create('bot', { limits: [{ calls: 1 }] })
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(key)))
    assert.ok(answers.some(({ status }) => status === 200))
    assert.ok(answers.every(({ status }) => status === 200 || status === 429))
    assert.equal(origin.seen.length, answers.filter(({ status }) => status === 200).length)
    // A call ends a moment after its response.
    await eventually('the key is free again', async () => (await ask(key)).status === 200)
  })
})

test('the holder of a key sees its own budgets, and nothing of others', async (t) => {
  const { api, create, ask } = await useKeys(t, { store: { usagePath: '/usage' } })
  await api('POST', 'teams', { name: 'support', budgets: [{ usd: 1, per: 'Day' }] })
  const key = await create('bot', { team: 'support', budgets: [{ usd: 0.05, per: 'Month' }], models: ['m'] })
  await ask(key)
  const { status, body } = await ask(key, { path: '/usage', method: 'GET' })
  const { budgets, ...rest } = JSON.parse(body) as { budgets: { resetsAt: string }[] }
  assert.equal(status, 200)
  assert.deepEqual(rest, { key: 'bot', limits: [], models: ['m'], expires: null })
  assert.deepEqual(
    budgets.map(({ resetsAt: _end, ...budget }) => budget),
    [{ usd: 0.05, per: 'Month', spent: '0.01', left: '0.04' }],
  )
  assert.equal((await ask('pk_live_unknown', { path: '/usage', method: 'GET' })).status, 401)
})

describe('the admin API', () => {
  test('says what is wrong with a change', async (t) => {
    const { api, create } = await useKeys(t)
    await create('bot')
    await api('POST', 'teams', { name: 'support' })
    const cases: [string, string, object | undefined, number, RegExp][] = [
      ['POST', 'keys', { name: 'a', bugdets: [] }, 400, /unknown key `bugdets`.*did you mean `budgets`/],
      ['POST', 'keys', { name: 'a b' }, 400, /name: found "a b"/],
      ['POST', 'keys', { name: 'bot' }, 409, /there is a key bot already/],
      ['POST', 'keys', { name: 'a', team: 'suport' }, 400, /no team suport; did you mean support/],
      ['POST', 'keys', { name: 'a', tags: { team: 'x' } }, 400, /tags: the name team/],
      ['POST', 'keys', { name: 'a', limits: [{ requests: 1, calls: 1 }] }, 400, /limits\[0\]/],
      ['PATCH', 'keys/bot', { onwer: null }, 400, /did you mean `owner`/],
      ['PATCH', 'keys/bto', { owner: 'ann' }, 404, /no key bto/],
      ['POST', 'keys/bot/rotate', { overlap: 'soon' }, 400, /overlap/],
      ['POST', 'keys/bot/burn', undefined, 404, /not found/],
      ['PUT', 'keys/bot', {}, 405, /method not allowed/],
      ['PATCH', 'teams/support', { parent: 'support' }, 400, /belong to itself/],
      ['GET', 'keys?color=red', undefined, 400, /unknown parameter/],
      ['GET', 'keys?state=lost', undefined, 400, /state: found "lost", expected active/],
      ['GET', 'keys?limit=many', undefined, 400, /limit: expected a number/],
      ['GET', 'audit?kind=user', undefined, 400, /kind: expected key, team, price, cache/],
      ['PATCH', 'keys/bot', { basedOn: 7 }, 400, /basedOn/],
      ['PATCH', 'keys/bot', { basedOn: 'older', owner: 'ann' }, 409, /bot has been changed meanwhile/],
    ]
    for (const [method, path, body, status, message] of cases) {
      const answer = await api(method, path, body)
      assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
      assert.match(answer.text, message)
    }
    const page = await api('POST', 'keys', { name: 'a' }, { 'content-type': 'application/json' })
    assert.equal(page.status, 403, 'pages of other sites cannot change keys')
  })

  test('finds keys, and refuses an edit of a version that is no longer there', async (t) => {
    const { api, create } = await useKeys(t)
    await api('POST', 'teams', { name: 'support', limits: [{ calls: 9 }] })
    for (const [name, owner] of [
      ['bot', 'ann'],
      ['web', 'Bob'],
    ] as const)
      await create(name, { owner, team: 'support' })
    await api('POST', 'keys/web/disable')
    const found = async (query: string) =>
      ((await api('GET', `keys?${query}`)).json() as { keys: KeyView[] }).keys.map(({ name }) => name)
    assert.deepEqual(
      [await found('text=bO'), await found('text=bo&state=disabled'), await found('limit=1')],
      [['bot', 'web'], ['web'], ['bot']],
    )
    const seen = (await api('GET', 'keys/bot')).json() as KeyView
    const edit = (fields: object) => api('PATCH', 'keys/bot', { ...fields, basedOn: seen.version })
    assert.equal((await api('POST', 'keys/bot/rotate')).status, 200)
    assert.equal((await edit({ owner: 'cleo' })).status, 200)
    const late = await edit({ models: ['m'] })
    assert.deepEqual([late.status, /bot has been changed meanwhile/.test(late.text)], [409, true])
    const now = (await api('GET', 'keys/bot')).json() as KeyView
    assert.deepEqual([now.owner, now.models], ['cleo', undefined])
    const team = (await api('GET', 'teams/support')).json() as TeamView
    assert.deepEqual([team.name, team.limits], ['support', [{ calls: 9 }]])
    const patch = { limits: null, basedOn: team.version }
    assert.deepEqual(
      [(await api('PATCH', 'teams/support', patch)).status, (await api('PATCH', 'teams/support', patch)).status],
      [200, 409],
    )
    const { entries } = (await api('GET', 'audit?kind=key&name=web')).json() as AuditView
    assert.deepEqual(
      entries.map(({ action, name }) => `${action} ${name}`),
      ['disable web', 'create web'],
    )
  })

  test('nests teams four deep, and keeps those that are in use', async (t) => {
    const { api, create } = await useKeys(t)
    for (const [name, parent, status] of [
      ['a', undefined, 201],
      ['b', 'a', 201],
      ['c', 'b', 201],
      ['d', 'c', 201],
      ['e', 'd', 400],
    ] as const) {
      assert.equal((await api('POST', 'teams', { name, parent })).status, status, name)
    }
    await create('bot', { team: 'd' })
    assert.match((await api('DELETE', 'teams/d')).text, /the key bot belongs to the team d/)
    assert.match((await api('DELETE', 'teams/a')).text, /the team b belongs to the team a/)
    assert.equal((await api('PATCH', 'keys/bot', { team: null })).status, 200)
    assert.equal((await api('DELETE', 'teams/d')).status, 200)
  })

  test('keeps a list of changes without secrets, and needs the token if there is one', async (t) => {
    const { api, program } = await useKeys(t, { env: { ADMIN_TOKEN: 'letmein' } })
    assert.equal((await api('GET', 'keys')).status, 401)
    assert.equal((await api('POST', 'keys', { name: 'bot' })).status, 401)
    const headers = { ...FROM_HERE, authorization: 'Bearer letmein' }
    const created = await api('POST', 'keys', { name: 'bot', owner: 'ann' }, headers)
    const secret = (created.json() as ChangedKeyView).secret ?? ''
    await api('PATCH', 'keys/bot', { owner: 'bob' }, headers)
    await api('DELETE', 'keys/bot', undefined, headers)
    const audit = await api('GET', 'audit', undefined, headers)
    const { entries } = audit.json() as { entries: { action: string; by: string; before: { fields: object } | null }[] }
    assert.deepEqual(
      entries.map(({ action, before }) => [action, before?.fields ?? null]),
      [
        ['delete', { owner: 'bob' }],
        ['change', { owner: 'ann' }],
        ['create', null],
      ],
    )
    assert.equal(entries[0]?.by, 'token ADMIN_TOKEN, from 127.0.0.1')
    assert.ok(!audit.text.includes(secret) && !/[0-9a-f]{64}/.test(audit.text))
    assert.ok(!(program.stdout() + program.stderr()).includes(secret))
  })
})

describe('the store', () => {
  test('keeps keys over a restart, as hashes', async (t) => {
    const { create, program, folder, start } = await useKeys(t)
    const key = await create('bot')
    program.child.kill('SIGTERM')
    await program.ended
    assert.ok(!readFileSync(join(folder, 'keys.db')).includes(key))
    const next = await start()
    assert.equal((await next.ask(key)).status, 200)
  })

  for (const [what, damage, problem] of DAMAGES) {
    test(`${what}: keys are refused, the gateway says so, and a mended file is used without a restart`, async (t) => {
      const { api, ask, program, folder, create } = await useKeys(t, { damage })
      const answer = await ask('pk_live_any')
      assert.deepEqual([answer.status, /API keys cannot be checked at the moment/.test(answer.body)], [503, true])
      await program.logged(/key store failed, its keys are refused/)
      const state = (await api('GET', 'state')).json() as { keyStore: { problem: string } }
      assert.match(state.keyStore.problem, problem)
      const created = await api('POST', 'keys', { name: 'bot' })
      assert.deepEqual([created.status, problem.test(created.text)], [503, true])
      assert.match(await (await fetch(`${program.stats}/metrics`)).text(), /portico_key_store_up 0/)
      for (const name of ['', '-wal', '-shm']) rmSync(join(folder, `keys.db${name}`), { force: true })
      await eventually('the store is open', async () => (await api('GET', 'keys')).status === 200)
      assert.equal((await ask(await create('bot'))).status, 200)
    })
  }
})
