import assert from 'node:assert/strict'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isRecentEnough } from '../../../bin/runtime.mjs'
import { README_MARK } from '../../generate/readme-pages.ts'
import { failures } from '../../pipeline/context/failure.ts'
import { quickStart } from '../../quick-start/quick-start.ts'
import { controllerSettings } from '../../process/controller/controller-settings.ts'
import { identityOf, serviceAccountOf } from '../../process/telemetry/identity.ts'
import { loadSessionKeys } from '../../process/config/session-keys.ts'
import { readEnvironment } from '../../sources/environment/environment.ts'
import { withStandardExports } from '../../sources/environment/standard-exports.ts'
import { loadConfig } from '../../sources/file.ts'
import { printProblems } from '../../sources/print-problems.ts'
import { exposedName, families } from '../../telemetry/metrics/families.ts'
import type { FamilyName } from '../../telemetry/metrics/families.ts'
import { resourceOf } from '../../telemetry/otlp/resource.ts'
import { createAuthority } from '../certificates.ts'
import { KEYS } from './docs-stand.ts'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const docs = globSync('docs/**/*.md', { cwd: root, exclude: ['docs/reference/**'] }).sort()

test('every whole config in the docs loads', () => {
  const authority = createAuthority()
  const issued = authority.issue({ names: ['example.com'] })
  const env = { ...KEYS, ALICE_KEY: 'alice-key-0123456789', SEARCH_KEY: 'search-key-0123456789' }
  const readPem = (path: string): string => {
    if (path.endsWith('.key')) return issued.key
    return path.includes('ca.crt') ? authority.cert : issued.cert
  }
  let found = 0
  // Configs on pages that are made from READMEs and from checks are run where those stand.
  const pages = docs.filter((page) => !read(page).startsWith(README_MARK) && !page.startsWith('docs/lint/'))
  for (const page of [...pages, 'README.md']) {
    for (const { line, text } of yamlFences(read(page))) {
      if (!/^(# yaml-language-server|binds:)/m.test(text) || /^tests:/m.test(text)) continue
      found++
      const loaded = loadConfig(text, { file: `${page} from line ${line}`, dir: root, env, readFile: readPem })
      assert.ok(loaded.ok, loaded.ok ? '' : printProblems(loaded.problems))
      assert.deepEqual(loaded.warnings, [], `${page} from line ${line}`)
    }
  }
  assert.ok(found > 10, `found only ${found} configs: has the form of the fences changed?`)
})

test('the mistake of the first steps is told as the page shows it', () => {
  const page = read('docs/getting-started.md')
  const [{ text } = { text: '' }] = yamlFences(page)
  const mistaken = text.replace('- name: app', '- nme: app')
  assert.notEqual(mistaken, text)
  const loaded = loadConfig(mistaken, { file: 'gateway.yaml', dir: root, env: {} })
  assert.ok(!loaded.ok)
  assert.ok(
    page.includes(`\`\`\`\n${printProblems(loaded.problems).trimEnd()}\n\`\`\`\n`),
    printProblems(loaded.problems),
  )
})

test('every relative link of every page leads to a file, and to a heading where it names one', () => {
  const dead: string[] = []
  const folders = ['docs', 'packages', 'examples', 'e2e', 'bench', 'deploy']
  const patterns = ['*.md', ...folders.map((folder) => `${folder}/**/*.md`)]
  // Links of introductions are relative to the pages that are made from them, which are checked too.
  const introductions = 'packages/translate/src/generate/kinds/**'
  const exclude = ['**/node_modules/**', '**/dist/**', '**/.venv/**', introductions]
  const pages = globSync(patterns, { cwd: root, exclude })
  assert.ok(pages.length > 150, `found only ${pages.length} pages`)
  for (const page of pages.toSorted()) {
    for (const link of relativeLinks(read(page))) {
      const [path = '', heading] = link.split('#')
      const file = path === '' ? join(root, page) : resolve(root, dirname(page), path)
      if (!existsSync(file)) dead.push(`${page}: ${link}`)
      else if (heading !== undefined && !headingsOf(readFileSync(file, 'utf8')).has(heading)) {
        dead.push(`${page}: ${link} (no such heading)`)
      }
    }
  }
  assert.deepEqual(dead, [])
})

test('the pages about versions name the runtimes that are needed, and the version that comes next', () => {
  const manifest = JSON.parse(read('packages/gateway/package.json')) as {
    version: string
    optionalDependencies: Record<string, string>
  }
  const page = read('docs/versioning.md')
  const platforms = Object.keys(manifest.optionalDependencies).map((name) => name.replace(/^node-(?:bin-)?/, ''))
  const named = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64']
  assert.deepEqual(platforms.toSorted(), named, 'the page names other platforms')
  assert.match(page, /^\| platforms \| Linux with glibc, x64 and arm64; macOS \([^)]+\), x64 and arm64 \|$/m)
  for (const version of Object.values(manifest.optionalDependencies)) {
    assert.ok(page.includes(`| Node | ${version.split('.')[0]} comes with the packages`), version)
  }
  const [, needed = ''] = /; (\d+\.\d+) or newer works too/.exec(page)!
  const [major, minor] = needed.split('.').map(Number)
  assert.ok(isRecentEnough(`${needed}.0`) && !isRecentEnough(`${major}.${minor! - 1}.0`), needed)
  assert.match(
    read('CHANGELOG.md'),
    new RegExp(`^## \\[Unreleased\\]$|^## \\[${RegExp.escape(manifest.version)}\\]`, 'm'),
  )
})

test('the table of metrics names every family and no other', () => {
  const named = firstColumn(read('docs/logs-and-metrics.md')).filter((name) => /^(portico|process)_/.test(name))
  assert.deepEqual(named, (Object.keys(families) as FamilyName[]).map(exposedName))
})

test('the page of variables names every one that is read and no other', (t) => {
  const asked = new Set(['ADMIN_TOKEN'])
  const env = new Proxy<Record<string, string | undefined>>(
    {},
    {
      get: (_, name) => {
        asked.add(String(name))
        // Others are asked for only where there is one.
        if (name === 'OTEL_TRACES_SAMPLER') return 'always_on'
        if (name === 'CONTROLLER_ADDR') return 'localhost:9978'
        return name === 'OTEL_EXPORTER_OTLP_ENDPOINT' ? 'http://127.0.0.1' : undefined
      },
    },
  )
  readEnvironment(env, () => false)
  quickStart(env)
  resourceOf(env, {})
  controllerSettings(env, identityOf(env))
  serviceAccountOf(env)
  withStandardExports({ binds: [], listeners: [], routes: [], backends: [], policies: [] }, env)
  rememberSessionKey(env, t)
  const named = firstColumn(read('docs/environment.md'))
  assert.deepEqual(named.toSorted(), [...asked].toSorted())
})

test('the page of errors has every failure and every code of the parsers', () => {
  const page = read('docs/errors.md')
  for (const { status, message } of Object.values(failures)) {
    assert.ok(page.includes(`| ${status} | \`${message}\``), `${status} ${message}`)
  }
  for (const code of parserCodes()) assert.ok(page.includes(`\`${code}\``), code)
})

/** Looks for the key of sessions where it is kept, in a folder that goes away. */
function rememberSessionKey(env: Record<string, string | undefined>, t: TestContext): void {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const environment = new Proxy(env, {
    get: (asked, name: string) => asked[name] ?? (name === 'XDG_STATE_HOME' ? folder : undefined),
  })
  loadSessionKeys({ environment, keyFile: null, warn: assert.fail })
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function yamlFences(markdown: string): { line: number; text: string }[] {
  return [...markdown.matchAll(/^```yaml\n(.*?)^```$/gms)].map((fence) => ({
    line: markdown.slice(0, fence.index).split('\n').length + 1,
    text: fence[1]!,
  }))
}

function relativeLinks(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```.*?^```$/gms, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((link) => link[1]!).filter((link) => !/^[a-z]+:/.test(link))
}

/** Headings as anchors, by the rule that renderers share: lower case, no punctuation, dashes for spaces. */
function headingsOf(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map((heading) => heading[1]!)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

/** Code in the first cell of table rows. */
function firstColumn(markdown: string): string[] {
  return [...markdown.matchAll(/^\| `([^`]+)` \|/gm)].flatMap((cell) => spelledOut(cell[1]!))
}

/** `a{b,c}` is two names. */
function spelledOut(name: string): string[] {
  const found = /^(.*)\{(.*)\}(.*)$/.exec(name)
  if (found === null) return [name]
  const [, before = '', choices = '', after = ''] = found
  return choices.split(',').flatMap((choice) => spelledOut(`${before}${choice}${after}`))
}

/** They are constants of their files, so the sources are asked. */
function parserCodes(): Set<string> {
  const files = [
    'http1/head.ts',
    'http1/target.ts',
    'server/http1/server-connection.ts',
    'server/http2/request-head.ts',
  ]
  const codes = new Set<string>()
  for (const file of files) {
    const source = read(`packages/http/src/${file}`)
    const found = source.matchAll(/(?:problem\(\d+, |refuse\([^'()\n]*|code: |problem: )'([a-z0-9_]+)'/g)
    for (const [, code] of found) codes.add(code!)
  }
  assert.ok(codes.size > 20, `found only ${codes.size} codes`)
  // Trailers are part of a body, whose refusal is `bad_chunk`.
  codes.delete('late_framing')
  return codes
}
