import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { useServer } from '../testing/fake-gateway.ts'
import { runCommand } from '../testing/program.ts'

/** An admin server that answers each request with the next of these. */
async function useAdmin(t: TestContext, ...answers: readonly (readonly [status: number, body: object | string])[]) {
  const seen: { call: string; body: unknown; origin: unknown }[] = []
  const port = await useServer(t, (request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      const call = `${request.method} ${request.url}`
      seen.push({ call, body: text === '' ? null : JSON.parse(text), origin: request.headers['x-portico-same-origin'] })
      const [status, body] = answers[seen.length - 1] ?? [500, '']
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  return { seen, run: (...args: string[]) => runCommand([...args, '--admin', `127.0.0.1:${port}`]) }
}

describe('porticoctl keys without a file', () => {
  test('creates a key, and prints it once', async (t) => {
    const { seen, run } = await useAdmin(t, [201, { key: {}, secret: 'pk_live_new' }])
    const fields = [
      '--team',
      'support',
      '--models',
      'a,b-*',
      '--budgets',
      '5usd/day,1000tokens/rolling-month,9usd/lifetime',
    ]
    const { code, stdout } = await run('keys', 'create', 'bot', ...fields, '--limits', '60requests/minute,4calls')
    assert.deepEqual([code, stdout], [0, 'pk_live_new\n'])
    const budgets = [
      { usd: 5, per: 'Day' },
      { tokens: 1000, per: 'Month', rolling: true },
      { usd: 9, per: 'Lifetime' },
    ]
    const limits = [{ requests: 60, unit: 'Minutes' }, { calls: 4 }]
    const body = { name: 'bot', team: 'support', models: ['a', 'b-*'], budgets, limits }
    assert.deepEqual(seen, [{ call: 'POST /api/keys', body, origin: '1' }])
  })

  test('changes, rotates and ends keys', async (t) => {
    const done = { key: {}, secret: null }
    const { seen, run } = await useAdmin(
      t,
      [200, done],
      [200, { key: {}, secret: 'pk_live_next' }],
      [200, done],
      [200, done],
    )
    const outputs = [
      await run('keys', 'change', 'bot', '--owner', 'ann', '--clear', 'models,expires'),
      await run('keys', 'rotate', 'bot', '--overlap', '1h', '-o', 'json'),
      await run('keys', 'revoke', 'bot'),
      await run('keys', 'delete', 'bot'),
    ]
    assert.deepEqual(
      outputs.map(({ stdout, stderr }) => stdout + stderr),
      ['changed bot\n', '{"name":"bot","key":"pk_live_next"}\n', 'revoked bot\n', 'deleted bot\n'],
    )
    assert.deepEqual(
      seen.map(({ call, body }) => [call, body]),
      [
        ['PATCH /api/keys/bot', { owner: 'ann', models: null, expires: null }],
        ['POST /api/keys/bot/rotate', { overlap: '1h' }],
        ['POST /api/keys/bot/revoke', null],
        ['DELETE /api/keys/bot', null],
      ],
    )
  })

  test('lists all pages, with what is spent', async (t) => {
    const budgets = [{ usd: 5, per: 'Day', spent: '0.25', left: '4.75', resetsAt: '' }]
    const key = { name: 'bot', state: 'active', secrets: [{ prefix: 'pk_live_ab12' }], team: 'support', budgets }
    const { seen, run } = await useAdmin(t, [200, { keys: [key], next: 'bot' }], [200, { keys: [], next: null }])
    const { stdout } = await run('keys', 'list')
    assert.match(stdout, /^NAME +STATE .*SPENT\nbot +active +pk_live_ab12 +support +- +- +0\.25 of 5 USD per Day\n$/)
    assert.deepEqual(
      seen.map(({ call }) => call),
      ['GET /api/keys?after=&limit=1000', 'GET /api/keys?after=bot&limit=1000'],
    )
  })

  test('says what is wrong', async (t) => {
    const { run } = await useAdmin(t, [404, 'there is no key bto; did you mean bot?\n'], [400, 'team: found 1\n'])
    const unknown = await run('keys', 'revoke', 'bto')
    assert.deepEqual([unknown.code, /there is no key bto; did you mean bot\?/.test(unknown.stderr)], [1, true])
    assert.match((await run('keys', 'create', 'bot')).stderr, /team: found 1/)
    assert.match((await run('keys', 'create', 'bot', '--budgets', '5eur/day')).stderr, /found the budget 5eur\/day/)
    assert.match((await run('keys', 'create', 'bot', '--limits', '5')).stderr, /found the limit 5/)
    const both = await run('keys', 'create', 'bot', '-f', 'keys.json', '--models', 'm')
    assert.deepEqual([both.code, /--models is for the keys of a gateway/.test(both.stderr)], [2, true])
    assert.equal((await run('keys', 'burn', 'bot')).code, 2)
  })
})

test('porticoctl teams creates and lists teams', async (t) => {
  const team = { name: 'support', parent: 'company' }
  const { seen, run } = await useAdmin(t, [201, { team }], [200, { teams: [team] }])
  const created = await run('teams', 'create', 'support', '--parent', 'company', '--budgets', '100usd/month')
  assert.equal(created.stderr, 'created support\n')
  assert.match((await run('teams', 'list')).stdout, /^NAME +PARENT +SPENT\nsupport +company +-\n$/)
  const budgets = [{ usd: 100, per: 'Month' }]
  assert.deepEqual(seen[0]?.body, { name: 'support', parent: 'company', budgets })
  assert.equal((await run('teams', 'rotate', 'support')).code, 2)
})
