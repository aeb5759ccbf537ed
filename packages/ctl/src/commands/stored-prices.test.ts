import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { useServer } from '../testing/fake-gateway.ts'
import { runCommand } from '../testing/program.ts'

/** Starts an admin server that gives the same response to each request. */
async function useAdmin(t: TestContext, status: number, answer: object | string) {
  const seen: { call: string; body: unknown }[] = []
  const port = await useServer(t, (request, response) => {
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      seen.push({ call: `${request.method} ${request.url}`, body: text === '' ? null : JSON.parse(text) })
      response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer))
    })
  })
  return { seen, run: (...args: string[]) => runCommand(['prices', ...args, '--admin', `127.0.0.1:${port}`]) }
}

describe('porticoctl prices of a running gateway', () => {
  test('sets and removes a price', async (t) => {
    const { seen, run } = await useAdmin(t, 200, { price: null })
    const amounts = ['--rates', 'input=2.5,output=10', '--units', 'image=0.04', '--per-call', '3']
    const set = await run('set', 'gpt-4o', '--provider', 'openai', ...amounts)
    const removed = await run('remove', 'gpt-4o*')
    assert.deepEqual(
      [set, removed].map(({ code, stderr }) => [code, stderr]),
      [
        [0, 'set the price of gpt-4o at openai\n'],
        [0, 'removed the price of gpt-4o* at any provider\n'],
      ],
    )
    const rates = { input: '2.5', output: '10' }
    assert.deepEqual(seen, [
      {
        call: 'POST /api/prices',
        body: { model: 'gpt-4o', provider: 'openai', rates, units: { image: '0.04' }, perCall: '3' },
      },
      { call: 'DELETE /api/prices?model=gpt-4o*', body: null },
    ])
  })

  test('lists the prices, also those of one provider', async (t) => {
    const changed = '2026-11-19T12:00:00.000Z'
    const prices = [
      { model: 'house-*', perCall: 3, changed },
      { provider: 'openai', model: 'gpt-4o', rates: { input: 2.5, output: 10 }, units: { image: 0.04 }, changed },
    ]
    const { run } = await useAdmin(t, 200, { prices })
    const csv = await run('list', '-o', 'csv')
    assert.equal(
      csv.stdout,
      `provider,model,rates,units,perCall,tiers,changed\n,house-*,,,3,,${changed}\nopenai,gpt-4o,"input=2.5,output=10",image=0.04,,,${changed}\n`,
    )
    const one = await run('list', '--provider', 'openai', '-o', 'json')
    assert.deepEqual(JSON.parse(one.stdout), [prices[1]])
    assert.match((await run('list')).stdout, /^PROVIDER +MODEL +RATES/)
  })

  test('says why the gateway refuses', async (t) => {
    const { run } = await useAdmin(t, 404, 'the store has no price for openai/m\n')
    const { code, stderr } = await run('remove', 'm', '--provider', 'openai')
    assert.deepEqual([code, stderr.includes('the store has no price for openai/m')], [1, true])
  })

  test('refuses arguments that it does not understand', async (t) => {
    const { seen, run } = await useAdmin(t, 200, {})
    for (const [args, problem] of [
      [['set', 'm'], /set needs --rates, --units or --per-call/],
      [['set', '--rates', 'input=1'], /set needs the name of a model/],
      [['set', 'm', '--rates', 'input'], /found --rates "input", expected name=amount/],
      [['set', 'm', '--rates', 'input=1,input=2'], /found input twice in --rates/],
      [['remove', 'm', '--rates', 'input=1'], /only set takes --rates/],
      [['list', 'm'], /list takes no model/],
      [['list', '-f', 'gateway.yaml'], /takes no -f/],
    ] as const) {
      const { code, stderr } = await run(...args)
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr, problem)
    }
    assert.equal(seen.length, 0)
  })
})
