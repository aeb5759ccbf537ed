import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../../sources/file.ts'
import { printProblems } from '../../sources/print-problems.ts'
import { isInstalled, readPage, root, run } from '../docs/docs-pages.ts'
import { startGateway, type TestGateway } from '../gateway.ts'
import { type ExampleCase, type ExampleFile, placed, readExample, type Stand } from './example-case.ts'
import { accessExamples } from './access.ts'
import { mcpExamples } from './mcp.ts'
import { modelExamples } from './models.ts'
import { streamExamples } from './streams.ts'
import { tlsExamples } from './tls.ts'
import { trafficExamples } from './traffic.ts'

/** Every file of `examples/` serves traffic as its comment says. */

/** The programs of the commands that this machine lacks. */
const missing = new Set<string>()
for (const program of ['curl', 'dig']) if (!(await isInstalled(program))) missing.add(program)

const cases: Record<string, ExampleCase> = {
  ...accessExamples,
  ...mcpExamples,
  ...modelExamples,
  ...streamExamples,
  ...tlsExamples,
  ...trafficExamples,
}

test('every example has a case, and a line in the list', () => {
  const files = readdirSync(join(root, 'examples')).filter((file) => !/^README\.md$|\.test\.yaml$/.test(file))
  assert.deepEqual(files.toSorted(), Object.keys(cases).toSorted())
  const listed = [...readPage('examples/README.md').matchAll(/\]\(([\w-]+\.yaml)\)/g)].map((link) => link[1]!)
  assert.deepEqual(listed.toSorted(), files.toSorted())
})

for (const [file, prepare] of Object.entries(cases)) {
  test(`the example ${file} does what it says`, async (t) => {
    const example = readExample(file)
    const stand = await prepare(t)
    const yaml = placed(example, stand)
    const loaded = loadConfig(yaml, { file, dir: root, env: {}, ...stand.gateway })
    assert.ok(loaded.ok, loaded.ok ? '' : printProblems(loaded.problems))
    assert.equal(printProblems(loaded.warnings), '')
    const gateway = await startGateway(yaml, stand.gateway)
    t.after(() => gateway.close())
    const lacking = [...missing].find((program) => example.commands.some((command) => command.includes(`${program} `)))
    const skip = lacking === undefined ? false : `no ${lacking} on this machine`
    await t.test('its commands', { skip }, () => runCommands(example, stand, gateway))
    await stand.check(gateway)
    assert.deepEqual(gateway.bugs, [])
  })
}

async function runCommands(example: ExampleFile, stand: Stand, gateway: TestGateway): Promise<void> {
  assert.ok(stand.shows.length > 0 && stand.shows.length === example.commands.length, example.commands.join('\n'))
  const { dir = root, env = {} } = stand.gateway ?? {}
  for (const [at, command] of example.commands.entries()) {
    let text = command
    for (const [index, port] of example.ports.entries()) {
      text = text.replaceAll(`127.0.0.1:${port}`, `127.0.0.1:${gateway.port(index)}`)
    }
    if (stand.command !== undefined) text = stand.command(text, gateway)
    const shell = `cd '${dir}'\ncurl() { command curl -sS --max-time 30 "$@"; }\n${text}\n`
    const { stdout, stderr } = await run(['sh'], shell, env)
    assert.match(stdout, stand.shows[at]!, `${text}\n${stderr}`)
  }
}
