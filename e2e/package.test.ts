import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The packed programs, installed into an empty folder and run from there, as people without a checkout do. */

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const installed = process.env['PORTICO_INSTALLED']
const skip = installed === undefined && 'E2E_INSTALL=1 lets it install from the registry'
/** The `node` that people have: npm puts this project's before it. */
const path = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.startsWith(root) && folder !== dirname(process.execPath))
  .join(delimiter)

function sizesIn(folder: string): number[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => statSync(join(parentPath, name)).size)
}

interface Sbom {
  metadata: { component: { name: string } }
  components: { name: string; version: string }[]
}

describe('the packed programs', { skip, timeout: 600_000 }, () => {
  const folder = installed ?? ''
  const env = { PATH: path, HOME: process.env['HOME'] ?? '' }
  const program = (name: string): string => join(folder, 'node_modules/.bin', name)

  it('hold the built program, its licence and what is bundled, and no source or test', () => {
    for (const name of ['gateway', 'ctl', 'controller']) {
      const installed = join(folder, 'node_modules/@portico', name)
      const files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
      assert.deepEqual(
        files.filter((file) => /\.ts$|\.test\.|(^|\/)src(\/|$)/.test(file)),
        [],
      )
      for (const file of ['LICENSE', 'NOTICE', 'README.md']) assert.ok(files.includes(file), `${name} has ${file}`)
    }
    const notice = readFileSync(join(folder, 'node_modules/@portico/gateway/NOTICE'), 'utf8')
    assert.match(notice, /^zod \d+\.\d+\.\d+ \(MIT\)$/m)
    assert.match(notice, /Permission is hereby granted, free of charge/)
    const parts = JSON.parse(readFileSync(join(folder, 'node_modules/@portico/gateway/sbom.cdx.json'), 'utf8')) as Sbom
    assert.equal(parts.metadata.component.name, '@portico/gateway')
    assert.ok(parts.components.some(({ name, version }) => name === 'zod' && /^\d/.test(version)))
  })

  it('bring one Node for all of them, and no headers of it', () => {
    const files = readdirSync(join(folder, 'node_modules'), { recursive: true, encoding: 'utf8' })
    const programs = files.filter((file) => /(^|\/)bin\/node$/.test(file))
    assert.deepEqual(programs, [`@portico/node-linux-${process.arch}/bin/node`])
    assert.deepEqual(
      files.filter((file) => file.endsWith('/v8.h')),
      [],
    )
    const sizes = ['gateway', `node-linux-${process.arch}`].flatMap((name) =>
      sizesIn(join(folder, 'node_modules/@portico', name)),
    )
    const total = sizes.reduce((sum, size) => sum + size, 0)
    assert.ok(total < 130 * 2 ** 20, `the gateway and its Node have ${(total / 2 ** 20).toFixed(0)} MiB`)
  })

  it('say their version and what they can do', () => {
    assert.match(
      execFileSync(program('portico'), ['--version'], { encoding: 'utf8', env }),
      /^portico \d+\.\d+\.\d+\n$/,
    )
    assert.match(execFileSync(program('porticoctl'), ['--help'], { encoding: 'utf8', env }), /trace/)
    assert.match(execFileSync(program('portico-controller'), ['--help'], { encoding: 'utf8', env }), /--namespace NAME/)
  })

  it('translate manifests', async (t) => {
    const page = readFileSync(join(root, 'docs/manifests.md'), 'utf8')
    const file = join(mkdtempSync(join(tmpdir(), 'portico-manifests-')), 'shop.yaml')
    t.after(() => rmSync(dirname(file), { recursive: true, force: true }))
    writeFileSync(file, /```yaml\n([^]*?)```/.exec(page)?.[1] ?? '')
    const { stdout, stderr } = await run(program('porticoctl'), ['translate', '-f', file, '-o', 'json'], { env })
    assert.equal(stderr, '')
    const { gateways } = JSON.parse(stdout) as { gateways: Record<string, { binds: { port: number }[] }> }
    assert.equal(gateways['default/web']?.binds[0]?.port, 8080)
  })

  it('run the quick start, serve a request, show how it was decided, and end', async () => {
    const any = '127.0.0.1:0'
    const addresses = { ADMIN_ADDR: any, STATS_ADDR: any, READINESS_ADDR: any }
    const gateway = spawn(program('portico'), [], { cwd: folder, env: { ...env, ...addresses, PORT: '0' } })
    const ended = new Promise((resolve) => gateway.on('exit', resolve))
    try {
      const banner = await new Promise<string>((resolve, reject) => {
        let text = ''
        gateway.on('exit', () => reject(new Error(`it ended: ${text}`)))
        gateway.stderr.on('data', (chunk: Buffer) => {
          text += chunk.toString()
          if (/^try: /m.test(text)) resolve(text)
        })
      })
      const port = /^ {2}traffic +127\.0\.0\.1:(\d+)/m.exec(banner)?.[1] ?? ''
      const admin = /^ {2}admin +http:\/\/([^/]+)\//m.exec(banner)?.[1] ?? ''
      const answer = await fetch(`http://127.0.0.1:${port}/`)
      assert.equal(answer.status, 200)
      assert.match(await answer.text(), /hello/)
      const args = ['trace', '--local', '--admin', admin, '--raw', '--port', port, '--', `http://127.0.0.1:${port}/`]
      const { stdout } = await run(program('porticoctl'), args, { env })
      const types = stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { message: { type: string } }).message.type)
      assert.equal(types.at(0), 'requestStarted')
      assert.equal(types.at(-1), 'requestFinished')
      assert.ok(types.includes('routeSelection'))
      gateway.kill('SIGTERM')
      assert.equal(await ended, 0)
    } finally {
      gateway.kill('SIGKILL')
    }
  })
})
