import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { runCommand } from '../testing/program.ts'

const CONFIG = `binds:
- port: 8080
  listeners:
  - routes:
    - name: chat
      policies:
        backend:
          prices:
            models: [{ model: house-1, rates: { input: 2.5, output: 10 }, tiers: [{ contextOver: 200000, rates: { input: 5 } }] }]
            file: prices.json
      backends:
      - ai:
          models:
          - { name: gpt-4o, provider: { openai: {} } }
          - { name: house, provider: { openai: { model: house-1 }, host: 127.0.0.1, port: 9000 } }
          - { name: filed, provider: { openai: { model: filed-1 } } }
          - { name: strange, provider: { openai: { model: strange-1 } } }
          - { name: any, targets: [{ model: house }] }
    - name: free
      matches: [{ path: { pathPrefix: /free } }]
      backends:
      - ai: { provider: { anthropic: { model: claude-opus-4-1 } } }
    - name: open
      matches: [{ path: { pathPrefix: /open } }]
      backends:
      - ai: { provider: { anthropic: {} } }
        policies: { prices: {} }
`
const CATALOG = { providers: { openai: { models: { 'filed-1': { rates: { input: '1', output: '2' } } } } } }

function useConfig(t: TestContext, text = CONFIG): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'prices.json'), JSON.stringify(CATALOG))
  writeFileSync(join(folder, 'gateway.yaml'), text)
  return join(folder, 'gateway.yaml')
}

interface View {
  readonly route: string
  readonly model: string
  readonly price: string
  readonly source: string
  readonly rates: Readonly<Record<string, string>> | null
}

describe('porticoctl prices', () => {
  test('checks the models of a config, and names those without a price', async (t) => {
    const { code, stdout, stderr } = await runCommand(['prices', 'check', '-f', useConfig(t), '-o', 'json'])
    assert.equal(code, 3, stderr)
    const views = JSON.parse(stdout) as View[]
    assert.deepEqual(
      views.map(({ route, model, price, source }) => [route, model, price, source.replace(/ [\d.]+$/, '')]),
      [
        ['chat', 'gpt-4o', 'openai/gpt-4o', '@pydantic/genai-prices'],
        ['chat', 'house-1', 'house-1', 'config'],
        ['chat', 'filed-1', 'openai/filed-1', 'file'],
        ['chat', 'strange-1', 'none', ''],
        ['free', 'claude-opus-4-1', 'none', 'no prices policy'],
        ['open', 'chosen by clients', '', ''],
      ],
    )
    assert.deepEqual(views[1]?.rates, { input: '2.5, 5 above 200000', output: '10' })
  })

  test('succeeds when every model has a price, as a table and as CSV', async (t) => {
    const file = useConfig(t, CONFIG.replace(/ +- \{ name: strange.*\n/, ''))
    const openai = ['prices', 'check', '-f', file, '--provider', 'openai']
    const table = await runCommand(openai)
    assert.equal(table.code, 0, table.stderr)
    assert.match(table.stdout, /^ROUTE +BACKEND +PROVIDER +MODEL +PRICE +SOURCE +INPUT +OUTPUT/)
    assert.match(
      (await runCommand([...openai, '-o', 'csv'])).stdout,
      /\nchat,[^,]*,openai,filed-1,openai\/filed-1,file,1,2,,,,\n/,
    )
  })

  test('shows one model in the bundled prices, and at the providers of a config', async (t) => {
    const known = await runCommand(['prices', 'show', 'gpt-4o', '--provider', 'openai', '-o', 'json'])
    assert.equal(known.code, 0, known.stderr)
    const [view] = JSON.parse(known.stdout) as View[]
    assert.deepEqual([view?.price, view?.rates?.['input']], ['openai/gpt-4o', '2.5'])
    assert.equal((await runCommand(['prices', 'show', 'nobody-1', '--provider', 'openai'])).code, 3)
    const filed = await runCommand([
      'prices',
      'show',
      'filed-1',
      '-f',
      useConfig(t),
      '--provider',
      'openai',
      '-o',
      'json',
    ])
    assert.deepEqual(
      (JSON.parse(filed.stdout) as View[]).map(({ model, source }) => [model, source]),
      [['filed-1', 'file']],
    )
  })

  test('says what is wrong with a config or with the command line', async (t) => {
    const broken = await runCommand([
      'prices',
      'check',
      '-f',
      useConfig(t, CONFIG.replace('filed-1', 'filed-1, colour: 1')),
    ])
    assert.equal(broken.code, 1)
    assert.match(broken.stderr, /gateway\.yaml:\d+:\d+.*colour/)
    assert.equal((await runCommand(['prices', 'check', '-f', '/nowhere.yaml'])).code, 1)
    for (const args of [
      [],
      ['keep'],
      ['check'],
      ['show'],
      ['show', 'm'],
      ['check', 'm', '-f', 'x'],
      ['show', 'a', 'b', '-f', 'x'],
    ]) {
      const { code, stderr } = await runCommand(['prices', ...args])
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr, /porticoctl prices: /)
    }
  })
})
