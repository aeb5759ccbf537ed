import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { checkCompile } from '../../compile/check.ts'
import { loadFeatures } from '../../compile/load-features.ts'
import { findFreePorts } from '../../quick-start/free-ports.ts'
import { quickStart } from '../../quick-start/quick-start.ts'
import type { Guide } from '../../quick-start/guide.ts'
import { loadConfig, type LoadedConfig } from '../../sources/file.ts'
import { PartCache } from '../../sources/part-cache.ts'
import { printProblem } from '../../sources/print-problems.ts'
import { TextInMemory } from './config-text-store.ts'
import { testsOf } from '../verify/verify-settings.ts'
import { claimPort } from './ports.ts'
import { atStart } from '../workers/start-flags.ts'

/** The source of the config: a file, standard input, manifests or the quick start. */
export interface ConfigSource {
  /** The name of the source in messages. */
  name: string
  /** The file to watch; null when there is none. */
  path: string | null
  /** The text of a source without a file; undefined when there is a file, or when the text cannot change. */
  memory?: TextInMemory
  /** The hints that a start prints; null for a config that the user wrote. */
  guide: Guide | null
  /** Loads the config; `text` is the content of the file when the caller has read it already. */
  load(text?: string): Promise<LoadedConfig | RefusedSource>
}

interface RefusedSource {
  ok: false
  /** All problems, printed. */
  problems: string[]
  /** Files to watch: a change may fix the config. */
  files: string[]
}

/** `gateway` selects a Gateway of the manifests. */
export async function configSource(file: string | null, gateway: string | null = null): Promise<ConfigSource> {
  // A data plane needs no file: it gets its config from the controller.
  if (file === null && process.env['CONTROLLER_ADDR'])
    return fixedSource('its controller', '<no file>', () => 'config: {}')
  if (file === null) return quickStartSource()
  if (file !== '-' && isManifests(file)) return manifestsSource(file, gateway)
  if (gateway !== null)
    return { name: file, path: null, guide: null, load: async () => refused(`${file}: ${NO_MANIFESTS}`) }
  if (file === '-') return fixedSource('standard input', '<stdin>', () => readFileSync(0, 'utf8'))
  const path = resolve(file)
  // The first load fills the cache, so that the first reload reads only what changed.
  const known = new PartCache()
  return {
    name: file,
    path,
    guide: null,
    async load(text) {
      const now = text ?? read(file, () => readFileSync(path, 'utf8'))
      if (typeof now !== 'string') return now
      return loadText(now, { file, dir: dirname(path) }, known)
    },
  }
}

const NO_MANIFESTS = 'found a config file, but --gateway needs manifests with Gateways'

/** Whether the file has Kubernetes resources, which have an `apiVersion`, and not a config. */
function isManifests(file: string): boolean {
  try {
    if (statSync(file).isDirectory()) return true
    return /^(?:\{\s*)?["']?apiVersion["']?\s*:/m.test(readFileSync(file, 'utf8'))
  } catch {
    // The loader reports the error.
    return false
  }
}

function manifestsSource(file: string, gateway: string | null): ConfigSource {
  return {
    name: file,
    path: resolve(file),
    guide: null,
    async load() {
      // The translator is loaded only when there are manifests.
      const { loadManifests } = await import('../../sources/manifests/manifests.ts')
      const loaded = await loadManifests(file, { gateway, env: process.env })
      if (loaded.ok) return loaded
      return { ok: false, problems: loaded.problems.map(printProblem), files: loaded.files ?? [] }
    },
  }
}

async function quickStartSource(): Promise<ConfigSource> {
  const name = 'the built-in quick start'
  const ports = await findFreePorts(process.env, isFree)
  const found = quickStart(process.env, { ports })
  if ('problem' in found) return { name, path: null, guide: null, load: async () => refused(found.problem) }
  const memory = new TextInMemory(found.text)
  const place = { file: QUICK_START, dir: process.cwd() }
  const load: ConfigSource['load'] = (text) => loadText(text ?? memory.read(), place, null)
  return { name, path: null, memory, guide: found.guide, load }
}

/** The name of the quick start in place of a file name. */
export const QUICK_START = '<quick start>'

async function isFree(port: number): Promise<boolean> {
  return 'port' in (await claimPort({ port, address: '127.0.0.1' }))
}

function fixedSource(name: string, file: string, readText: () => string): ConfigSource {
  return {
    name,
    path: null,
    guide: null,
    async load() {
      const text = read(name, readText)
      return typeof text === 'string' ? loadText(text, { file, dir: process.cwd() }, null) : text
    },
  }
}

/** `loadText` also compiles the valid parts of a rejected config, so that one mistake does not hide another. */
export async function loadText(
  text: string,
  place: { file: string; dir: string },
  known: PartCache | null,
): Promise<LoadedConfig | RefusedSource> {
  const loaded = atStart(() => loadConfig(text, { ...place, env: process.env }, known))
  if (loaded.ok) {
    const placed = withTests({ ...loaded, text: { text, ...place } })
    return process.env['CONTROLLER_ADDR'] ? withPortsElsewhere(placed) : placed
  }
  const { files = [], rest = null } = loaded
  const problems = loaded.problems.map(printProblem)
  if (rest === null) return { ok: false, problems, files }
  await loadFeatures(rest.ir)
  // A fault without a part of the file may come from the parts that were left out.
  const faults = checkCompile(rest.ir).filter(({ part }) => part !== null)
  return { ok: false, problems: [...problems, ...faults.map(rest.explain)], files }
}

/** Adds the config's test file to the files whose changes cause a reload. */
function withTests(loaded: LoadedConfig): LoadedConfig {
  const tests = testsOf(loaded)
  return tests === null ? loaded : { ...loaded, files: [...loaded.files, tests] }
}

/** Drops the warning that the file opens no port: a controller opens ports. */
function withPortsElsewhere(loaded: LoadedConfig): LoadedConfig {
  const isAboutPorts = ({ code, path }: LoadedConfig['warnings'][number]): boolean =>
    code === 'no_effect' && (path.length === 0 || (path.length === 1 && path[0] === 'binds'))
  return { ...loaded, warnings: loaded.warnings.filter((warning) => !isAboutPorts(warning)) }
}

function read(name: string, readText: () => string): string | RefusedSource {
  try {
    return readText()
  } catch (error) {
    return refused(`${name}: cannot be read: ${describe(error as NodeJS.ErrnoException)}`)
  }
}

function refused(problem: string): RefusedSource {
  return { ok: false, problems: [problem], files: [] }
}

function describe(error: NodeJS.ErrnoException): string {
  return KNOWN[error.code ?? ''] ?? error.message
}

const KNOWN: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
}
