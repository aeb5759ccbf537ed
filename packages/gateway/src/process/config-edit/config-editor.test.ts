import assert from 'node:assert/strict'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { AppliedConfig, CheckedConfig, ConfigHistory, PastConfigText } from '../../admin/config-view.ts'
import { request } from '../../testing/client.ts'
import { apply, call, check, configText, HEADERS, json, TOKEN, useEditable, view } from '../../testing/edits.ts'
import { eventually, type Program, useConfigFile, useProgram } from '../../testing/process.ts'
import { takenPort } from '../../testing/scene.ts'

const MASK = '"<redacted>"'

describe('edits of the config through the admin server', () => {
  test('a text is checked as a start would: problems with their places, nothing of what is hidden', async (t) => {
    const { program } = await useEditable(t)
    const { text } = await view(program)
    assert.ok(text?.includes(MASK) === true && !text.includes('sk-very-secret'))
    const same = await check(program, text)
    assert.deepEqual(
      [same.problems, same.refused, same.effect?.routes.counts],
      [[], [], { added: 0, changed: 0, dropped: 0 }],
    )
    const wrong = await check(
      program,
      text.replace('port: 0', 'prot: 0').replace('key: "<redacted>"', 'kye: "<redacted>"'),
    )
    assert.deepEqual(
      wrong.problems.map(({ text: told }) => /^[^ ]+ [^ ]+ (unknown key `\w+`)/.exec(told)?.[1]),
      ['unknown key `prot`', 'unknown key `kye`'],
    )
    assert.equal(wrong.effect, null)
    // All that is hidden stands below it: the key is the one problem.
    const root = await check(program, text.replace('binds:', 'bindz:'))
    assert.equal(root.problems.length, 1)
    assert.match(
      root.problems[0]?.text ?? '',
      /gateway\.yaml:2:1: bindz: unknown key `bindz`, .*\n.*did you mean `binds`/,
    )
    const misspelt = await check(program, text.replace('- name: web', '- nam: web'))
    assert.match(misspelt.problems[0]?.text ?? '', /gateway\.yaml:6:5: binds\[0\]\.listeners\[0\]\.nam: unknown key/)
    const broken = await check(program, 'binds: [')
    assert.equal(broken.problems[0]?.line, 1)
    // After the mask on the same line, the column is that of what is seen.
    const beside = await check(program, text.replace(`${MASK} } }`, `${MASK}, kye: 1 } }`))
    const line = text.split('\n')[18] ?? ''
    assert.deepEqual(
      beside.problems.map((problem) => [problem.line, problem.column]),
      [[19, line.indexOf(MASK) + MASK.length + 3]],
    )
  })

  test('the effect is what a reload would do', async (t) => {
    const { program } = await useEditable(t)
    const { text } = await view(program)
    assert.ok(text !== null)
    const changed = await check(
      program,
      text.replace('body: first', 'body: second').replace('unit: Hours', 'unit: Minutes'),
    )
    assert.deepEqual(changed.effect?.routes.changed, ['bind/0/web/page', 'bind/0/web/limited'])
    assert.equal(changed.effect?.limits.reset.length, 1)
    const more = await check(
      program,
      `${text}- port: 1\n  listeners: [{ name: other, routes: [{ name: x, policies: { directResponse: { status: 200 } } }] }]\n`,
    )
    assert.deepEqual(
      [more.effect?.ports, more.effect?.routes.added],
      [{ opened: ['*:1'], closed: [] }, ['bind/1/other/x']],
    )
    const numbers = await check(program, text.replace('requests: 5', 'requests: 6'))
    assert.deepEqual(numbers.effect?.limits, { reset: [], added: [], dropped: [] })
    const none = await check(program, text.slice(0, text.indexOf('binds:')))
    assert.deepEqual([none.effect?.routes.counts.dropped, none.effect?.ports.closed.length], [3, 1])
    assert.equal(typeof none.effect?.connections, 'number')
  })

  test('an edit goes live with the token, is in the file with its secrets, and can be taken back', async (t) => {
    const { program, config } = await useEditable(t)
    chmodSync(config.file, 0o640)
    const before = await view(program)
    const answer = await apply(program, {
      text: before.text?.replace('body: first', 'body: second') ?? '',
      basedOn: before.version ?? '',
    })
    const applied = (await answer.json()) as AppliedConfig
    assert.deepEqual([answer.status, applied.generation], [200, 2])
    assert.equal((await request(program.port(), { path: '/' })).body, 'second')
    assert.equal(readFileSync(config.file, 'utf8'), configText({ body: 'second' }))
    assert.equal(statSync(config.file).mode & 0o777, 0o640)
    assert.deepEqual(readdirSync(config.folder), ['gateway.yaml'])
    assert.equal((await view(program)).version, applied.version)
    const history = await json<ConfigHistory>(program, '/api/config/history')
    assert.deepEqual([history.live, history.generations.map(({ generation }) => generation)], [2, [2, 1]])
    const past = await json<PastConfigText>(program, '/api/config/history/1')
    assert.ok(past.text?.includes('body: first') === true && !past.text.includes('sk-very-secret'))
    const back = await apply(program, { text: past.text, basedOn: applied.version, generation: 1 })
    assert.deepEqual([back.status, ((await back.json()) as AppliedConfig).generation], [200, 3])
    assert.equal(readFileSync(config.file, 'utf8'), configText())
    assert.equal((await request(program.port(), { path: '/' })).body, 'first')
    assert.equal((await call(program, '/api/config/history/99')).status, 404)
    // The watch ignores texts that the editor wrote.
    config.replace(configText({ body: 'third' }))
    await eventually('the next config is live', async () => (await view(program)).generation === 4)
    assert.match(program.stdout(), /config file changed through the admin API/)
    assert.doesNotMatch(program.stdout() + program.stderr(), /sk-very-secret|open-sesame/)
  })

  test('going back brings hidden values of that time, not those of now', async (t) => {
    const { program, config } = await useEditable(t)
    config.replace(configText().replace('sk-very-secret', 'sk-rotated'))
    await eventually('the next config is live', async () => (await view(program)).generation === 2)
    const past = await json<PastConfigText>(program, '/api/config/history/1')
    const { version } = await view(program)
    assert.equal((await apply(program, { text: past.text ?? '', basedOn: version ?? '', generation: 1 })).status, 200)
    assert.equal(readFileSync(config.file, 'utf8'), configText())
  })

  test('without leave, token, header or the newest version nothing is written', async (t) => {
    const { program, config } = await useEditable(t)
    const { text, version } = await view(program)
    const edit = { text: text?.replace('first', 'second') ?? '', basedOn: version ?? '' }
    const statusOf = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(`${program.admin}/api/config/apply`, { method: 'POST', headers, body: JSON.stringify(edit) })).status
    const good = { ...HEADERS, authorization: `Bearer ${TOKEN}` }
    const session = await fetch(`${program.admin}/ui/session`, { method: 'POST', headers: good })
    const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? ''
    const { proof } = (await session.json()) as { proof: string }
    assert.equal(await statusOf(HEADERS), 401)
    assert.equal(await statusOf({ ...HEADERS, authorization: 'Bearer other' }), 401)
    assert.equal(await statusOf({ ...HEADERS, cookie, 'x-portico-session': proof }), 403, 'a session is not the token')
    assert.equal(await statusOf({ ...good, 'x-portico-same-origin': '0' }), 403)
    assert.equal(await statusOf({ ...good, origin: 'http://evil.example.com' }), 403)
    assert.equal(await statusOf({ ...good, 'content-type': 'text/plain' }), 415)
    const old = await apply(program, { ...edit, basedOn: 'other' })
    assert.deepEqual([old.status, /has changed since/.test(await old.text())], [409, true])
    assert.equal((await apply(program, { text: edit.text } as never)).status, 400)
    assert.equal((await apply(program, { ...edit, extra: 1 } as never)).status, 400)
    assert.equal((await call(program, '/api/config/apply')).status, 405)
    const wrong = await apply(program, { ...edit, text: 'binds: [{ prt: 1 }]' })
    assert.equal(wrong.status, 422)
    assert.match(((await wrong.json()) as CheckedConfig).refused[0]?.text ?? '', /config` block/)
    assert.equal(readFileSync(config.file, 'utf8'), configText())
    assert.equal((await view(program)).generation, 1)
  })

  const kept = [
    ['stdio', '- ai: { provider: { openai: {} } }', '- mcp: { targets: [{ name: x, stdio: { cmd: sh } }] }'],
    ['file', 'key: "<redacted>"', 'secretRef: { file: /etc/hostname }'],
    ['variable', 'body: first', 'body: "${ADMIN_TOKEN}"'],
    ['config', 'workers: 1', 'workers: 2'],
  ] as const

  test('programs, files, variables and the config block are refused there, and what they name is not looked at', async (t) => {
    const { program, config } = await useEditable(t)
    const { text, version } = await view(program)
    for (const [kind, from, to] of kept) {
      const edit = { text: text?.replace(from, to) ?? '', basedOn: version ?? '' }
      assert.notEqual(edit.text, text)
      const checked = await check(program, edit.text)
      assert.deepEqual([checked.refused.map((refused) => refused.kind), checked.effect], [[kind], null])
      assert.doesNotMatch(JSON.stringify(checked), new RegExp(TOKEN))
      const refused = await apply(program, edit)
      assert.deepEqual([refused.status, ((await refused.json()) as CheckedConfig).refused.length], [422, 1])
      assert.equal(readFileSync(config.file, 'utf8'), configText())
    }
  })

  test('a text that cannot go live is not left in the file, and the gateway reports no problems', async (t) => {
    const { program, config } = await useEditable(t)
    const port = await takenPort(t)
    const { text, version } = await view(program)
    const more = `- port: ${port}\n  address: 127.0.0.1\n  listeners: [{ name: other, routes: [] }]\n`
    const answer = await apply(program, { text: `${text}${more}`, basedOn: version ?? '' })
    const { problems } = (await answer.json()) as CheckedConfig
    assert.deepEqual([answer.status, problems.length], [422, 1])
    assert.match(problems[0]?.text ?? '', new RegExp(`${port}`))
    assert.equal(readFileSync(config.file, 'utf8'), configText())
    const after = await view(program)
    assert.deepEqual([after.generation, after.problems, after.version], [1, [], version])
    assert.equal((await request(program.port(), { path: '/' })).body, 'first')
  })

  test('a link to the file stays one', async (t) => {
    const config = useConfigFile(t, 'binds: []\n')
    const folder = join(config.folder, 'real')
    mkdirSync(folder)
    writeFileSync(join(folder, 'gateway.yaml'), configText())
    const link = join(config.folder, 'link.yaml')
    symlinkSync('real/gateway.yaml', link)
    const program = await useProgram(t, { args: ['-f', link], env: { ADMIN_TOKEN: TOKEN } })
    const { text, version } = await view(program)
    assert.equal(
      (await apply(program, { text: text?.replace('first', 'second') ?? '', basedOn: version ?? '' })).status,
      200,
    )
    assert.equal(lstatSync(link).isSymbolicLink(), true)
    assert.equal(readFileSync(join(folder, 'gateway.yaml'), 'utf8'), configText({ body: 'second' }))
    assert.equal((await view(program)).generation, 2)
  })

  test('a file that was broken by hand is mended by going back', async (t) => {
    const { program, config } = await useEditable(t)
    config.replace('binds: [')
    await eventually('the problem is told', async () => (await view(program)).problems.length > 0)
    const { text, version, generation } = await view(program)
    assert.deepEqual([text, generation], [null, 1])
    const past = await json<PastConfigText>(program, '/api/config/history/1')
    assert.equal((await apply(program, { text: past.text ?? '', basedOn: version ?? '', generation: 1 })).status, 200)
    assert.equal(readFileSync(config.file, 'utf8'), configText())
    assert.deepEqual((await view(program)).problems, [])
  })
})

describe('a gateway without a writable config', () => {
  test('it is off by default, and says how to turn it on', async (t) => {
    const { program } = await useEditable(t, configText({ edit: false }))
    await closed(program, /config: \{ ui: \{ edit: true \} \}/)
  })

  test('without a token it is refused on loopback, too', async (t) => {
    const config = useConfigFile(t, configText())
    const program = await useProgram(t, { args: ['-f', config.file] })
    await closed(program, /ADMIN_TOKEN/)
    const { text } = await view(program)
    assert.deepEqual((await check(program, text ?? '')).problems, [], 'looking needs none')
  })

  test('manifests have no file to write', async (t) => {
    const config = useConfigFile(
      t,
      'apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: { name: g }\nspec: { gatewayClassName: portico, listeners: [{ name: a, port: 0, protocol: HTTP }] }\n',
    )
    const program = await useProgram(t, { args: ['-f', config.file], env: { ADMIN_TOKEN: TOKEN } })
    await closed(program, /manifests/)
    assert.equal((await call(program, '/api/config/check', { method: 'POST', body: '{"text":"a: 1"}' })).status, 409)
  })
})

async function closed(program: Program, reason: RegExp): Promise<void> {
  const { edit } = await view(program)
  assert.deepEqual([edit.isAllowed, reason.test(edit.reason ?? '')], [false, true])
  const answer = await apply(program, { text: 'binds: []', basedOn: '' })
  assert.equal(answer.status, 403)
  assert.match(await answer.text(), reason)
}
