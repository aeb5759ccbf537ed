import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runCommand, runProgram } from './testing/program.ts'
import { VERSION } from './version.ts'

describe('the command line', () => {
  test('--help and --version print on standard output', async () => {
    const [help, traceHelp, translateHelp, version] = await Promise.all([
      runProgram(['--help']),
      runCommand(['trace', '--help']),
      runCommand(['translate', '--help']),
      runProgram(['--version']),
    ])
    assert.equal(help.code, 0)
    assert.match(help.stdout, /trace .*show how the gateway decides/)
    assert.equal(help.stderr, '')
    assert.equal(traceHelp.code, 0)
    for (const part of ['--local', '--raw', '--port', '--admin', '--admin-token', '--expression', 'plain lines']) {
      assert.ok(traceHelp.stdout.includes(part), part)
    }
    for (const part of ['-f, --file <path>', '--gateway', '-o, --output', 'Secrets are redacted']) {
      assert.ok(translateHelp.stdout.includes(part), part)
    }
    assert.deepEqual(version, { code: 0, signal: null, stdout: `porticoctl ${VERSION}\n`, stderr: '' })
  })

  test('usage errors exit with 2 and a message, and leave standard output empty', async () => {
    const cases: [string[], RegExp][] = [
      [[], /Usage: porticoctl/],
      [['--', 'trace'], /Usage: porticoctl/],
      [['trac'], /unknown command 'trac'[^]*Did you mean trace/],
      [['trace', '--locall'], /unknown option '--locall'/],
      [['trace', '--local', '--port'], /option '--port <port>' argument missing/],
      [['trace'], /name a Gateway of the cluster, gateway\/<name>, or give --local/],
      [['trace', '--local', 'gateway/x'], /--local is for a standalone gateway/],
      [['trace', '--local', '--port', '1'], /--port needs a URL/],
      [['trace', '--local', '--', 'http://x/'], /a URL needs --port/],
      [['trace', '--local', '--port', '1', 'http://x/'], /found "http:\/\/x\/", .* behind --/],
      [['translate'], /-f is required: a file or a folder of manifests/],
      [['translate', '-f'], /option '-f, --file <path>' argument missing/],
      [['translate', 'manifests/'], /-f is required/],
      [['translate', '-f', '.', 'more'], /found "more", expected options only/],
      [['translate', '-f', '.', '--', 'more'], /found "more", expected options only/],
      [['translate', '-f', '.', '-o', 'xml'], /found output "xml", expected yaml or json/],
      [['translate', '-f', '.', '--gateway', 'web'], /found Gateway "web", expected <namespace>\/<name>/],
      [['complete'], /give one shell/],
      [['complete', 'tcsh'], /give one shell/],
    ]
    assert.equal((await runProgram(['trac'])).code, 2)
    for (const [args, said] of cases) {
      const { code, stdout, stderr } = await runCommand(args)
      assert.match(stderr, said)
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' }, args.join(' '))
    }
  })

  test('the terminal UI, translation and their libraries are loaded only by commands that need them', () => {
    const loaded = staticImports(fileURLToPath(new URL('start.ts', import.meta.url)))
    assert.ok(loaded.has('commander') && loaded.has('eventsource-parser'))
    for (const name of ['ink', 'react', '@bomb.sh/tab', 'yaml']) assert.ok(!loaded.has(name), name)
    // The functions for JSON are small, and load no builtin and no other package.
    for (const name of loaded) assert.doesNotMatch(name, /@portico(?!\/http\/json$)|\.\.\/gateway|\/tui\//)
  })
})

/** Files and packages that are loaded at the start. */
function staticImports(file: string, seen = new Set<string>()): Set<string> {
  seen.add(file)
  for (const [, name] of readFileSync(file, 'utf8').matchAll(/^import (?!type )[^;]*?from '([^']+)'/gm)) {
    if (!name!.startsWith('.')) seen.add(name!)
    else if (!seen.has(resolve(dirname(file), name!))) staticImports(resolve(dirname(file), name!), seen)
  }
  return seen
}
