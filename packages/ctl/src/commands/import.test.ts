import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { importers } from '../../../import/src/index.ts'
import { runCommand } from '../testing/program.ts'
import { SOURCE_KINDS } from './import.ts'

const CONFIG = `model_list:
- model_name: fast
  litellm_params: { model: openai/gpt-6-luna, api_key: sk-a-literal-secret }
- model_name: drawing
  litellm_params: { model: replicate/flux }
general_settings: { master_key: os.environ/PROXY_KEY }
`

function useFile(t: TestContext, text: string): { file: string; out: string } {
  const folder = mkdtempSync(join(tmpdir(), 'portico-import-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'config.yaml')
  writeFileSync(file, text)
  return { file, out: join(folder, 'new', 'gateway') }
}

describe('import', () => {
  test('writes a config, tests that pass, and a report', async (t) => {
    const { file, out } = useFile(t, CONFIG)
    const { code, stdout, stderr } = await runCommand(['import', '--from', 'litellm', file, '--out', out])
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' })
    assert.ok(
      stdout.includes(
        `${file}:5:21: not carried: model_list[1].litellm_params.model: no provider for the vendor "replicate"\n`,
      ),
    )
    assert.match(stdout, /4 carried, 0 changed, 2 not carried; 3 tests passed, 0 failed\n/)
    assert.match(
      readFileSync(join(out, 'gateway.report.txt'), 'utf8'),
      /config\.yaml:2:3: carried: model_list\[0\]\.model_name\n/,
    )
    assert.equal(statSync(join(out, 'gateway.yaml')).mode & 0o077, 0)
    const tested = await runCommand(['test', out])
    assert.equal(tested.code, 0, tested.stdout)
  })

  test('secrets are in the config alone', async (t) => {
    const { file, out } = useFile(t, CONFIG)
    const { stdout } = await runCommand(['import', '--from', 'litellm', file, '--out', out, '-o', 'json'])
    assert.ok(readFileSync(join(out, 'gateway.yaml'), 'utf8').includes('sk-a-literal-secret'))
    const texts = [
      stdout,
      ...['gateway.report.txt', 'gateway.test.yaml'].map((name) => readFileSync(join(out, name), 'utf8')),
    ]
    for (const text of texts) assert.ok(!text.includes('sk-a-literal-secret'))
  })

  test('JSON has every entry, and --strict fails when something is not carried', async (t) => {
    const { file, out } = useFile(t, CONFIG)
    const args = ['import', '--from', 'litellm', file, '--out', out, '-o', 'json', '--strict']
    const { code, stdout } = await runCommand(args)
    const { report, problems, tests } = JSON.parse(stdout) as { report: object[]; problems: string[]; tests: object }
    assert.equal(code, 1)
    assert.deepEqual([report.length, problems, tests], [6, [], { passed: 3, failed: 0, failures: [] }])
    assert.deepEqual(report[0], {
      ...{ verdict: 'carried', note: '', isProtection: false, name: 'model_list[0].model_name' },
      at: { file, line: 2, column: 3 },
    })
  })

  test('files that exist are replaced only with --force', async (t) => {
    const { file, out } = useFile(t, CONFIG)
    const args = ['import', '--from', 'litellm', file, '--out', out]
    await runCommand(args)
    writeFileSync(join(out, 'gateway.yaml'), 'mine')
    const again = await runCommand(args)
    assert.equal(again.code, 1)
    assert.match(again.stderr, /gateway\.yaml exists: choose another folder with --out, or replace it with --force/)
    assert.equal(readFileSync(join(out, 'gateway.yaml'), 'utf8'), 'mine')
    assert.equal((await runCommand([...args, '--force'])).code, 0)
    assert.match(readFileSync(join(out, 'gateway.yaml'), 'utf8'), /^# Imported from/)
  })

  test('a source that cannot be imported writes nothing', async (t) => {
    for (const [text, said] of [
      ['model_list: [', /config\.yaml:1:\d+: broken YAML/],
      ['model_list: []', /config\.yaml:1:1: found no model that can be imported/],
      ['just text', /config\.yaml:1:1: found no mapping/],
    ] as const) {
      const { file, out } = useFile(t, text)
      const { code, stdout, stderr } = await runCommand(['import', '--from', 'litellm', file, '--out', out])
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, said)
      assert.ok(!existsSync(out))
    }
  })

  test('bad usage, and files that cannot be read', async () => {
    const cases: [string[], number, RegExp][] = [
      [
        ['config.yaml'],
        2,
        /--from is required: one of agentgateway, caddy, envoy, haproxy, kong, litellm, nginx, traefik/,
      ],
      [
        ['--from', 'apache', 'config.yaml'],
        2,
        /found --from "apache", expected one of agentgateway, caddy, envoy, haproxy, kong, litellm, nginx, traefik/,
      ],
      [['--from', 'litellm'], 2, /found no file/],
      [['--from', 'litellm', 'config.yaml', '-o', 'xml'], 2, /found output "xml", expected text or json/],
      [['--from', 'litellm', '/does/not/exist.yaml'], 1, /\/does\/not\/exist\.yaml cannot be read: ENOENT/],
    ]
    for (const [args, code, said] of cases) {
      const output = await runCommand(['import', ...args])
      assert.deepEqual([output.code, output.stdout], [code, ''])
      assert.match(output.stderr, said)
    }
  })

  test('included files are read in the folder of the config alone', async (t) => {
    const inner = 'server { listen 8080; location / { proxy_pass http://127.0.0.1:9000; } }'
    const { file, out } = useFile(t, 'include conf.d/*.conf;\ninclude ../*.conf;\ninclude conf.d/link;\n')
    const [folder, outside] = [dirname(file), mkdtempSync(join(tmpdir(), 'portico-outside-'))]
    t.after(() => rmSync(outside, { recursive: true }))
    mkdirSync(join(folder, 'conf.d'))
    writeFileSync(join(folder, 'conf.d', 'one.conf'), inner)
    writeFileSync(join(outside, 'secret'), 'server { location /secret { return 200; } }')
    symlinkSync(join(outside, 'secret'), join(folder, 'conf.d', 'link'))
    const { code, stdout } = await runCommand(['import', '--from', 'nginx', file, '--out', out])
    assert.equal(code, 0, stdout)
    assert.match(
      stdout,
      /:2:1: not carried: include \.\.\/\*\.conf: outside of the folder of the config: name a folder with --root\n/,
    )
    assert.match(
      stdout,
      /:3:1: not carried: include conf\.d\/link: conf\.d\/link cannot be read, is too large, or leads out of the folder\n/,
    )
    assert.ok(!readFileSync(join(out, 'gateway.yaml'), 'utf8').includes('secret'))
    assert.match(readFileSync(join(out, 'gateway.report.txt'), 'utf8'), /one\.conf:1:36: carried: proxy_pass/)
  })

  test('the output says why no test ran, and names the files that were written', async (t) => {
    const site = (tls: string) => `server { listen 8443 ssl; ${tls} location / { proxy_pass http://127.0.0.1:9000; } }`
    const { file, out } = useFile(t, site('ssl_certificate missing.pem; ssl_certificate_key missing.key;'))
    const { code, stdout } = await runCommand(['import', '--from', 'nginx', file, '--out', out])
    assert.equal(code, 1)
    assert.match(stdout, /the imported config has a problem: .*missing\.pem/)
    assert.match(stdout, /no test ran: the config has problems\n/)
    assert.match(stdout, /written to .*: gateway\.yaml, gateway\.report\.txt\n/)
    const json = await runCommand(['import', '--from', 'nginx', file, '--out', out, '--force', '-o', 'json'])
    assert.equal((JSON.parse(json.stdout) as { whyUntested: string }).whyUntested, 'the config has problems')
  })

  test('the command offers each importer', () => {
    assert.deepEqual(SOURCE_KINDS, Object.keys(importers))
  })
})
