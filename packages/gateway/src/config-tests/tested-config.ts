import { readFileSync, statSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { checkCompile } from '../compile/check.ts'
import { loadFeatures } from '../compile/load-features.ts'
import { resourceLocations } from '../explain/resource-locations.ts'
import type { SourceLocation } from '../findings/explanation.ts'
import type { Ir } from '../ir/resources.ts'
import type { Path } from '../schema/problem.ts'
import { type LoadOptions, type LoadResult, loadConfig } from '../sources/file.ts'
import type { AbsentPem } from '../sources/files/read-referenced-files.ts'
import { printProblem } from '../sources/print-problems.ts'
import type { Environment } from '../sources/substitute.ts'
import { createStandInPair } from './stand-in-pair.ts'

/** A config that can run, with the locations of its parts. */
export interface TestedConfig {
  readonly ok: true
  readonly ir: Ir
  readonly warnings: string[]
  /** Addresses of Services, by the key of their backends. */
  readonly endpoints: Readonly<Record<string, readonly string[]>> | undefined
  locate(this: void, part: object, path: Path): SourceLocation | null
}

interface TestedConfigOptions {
  readonly env: Environment
  readonly gateway: string | null
  /** The text of the config, which replaces the text of the config file. */
  readonly text?: string
  /**
   * Whether stand-ins replace certificates and keys whose files are absent. Without stand-ins, absent files are
   * problems.
   */
  readonly standsIn?: boolean
}

/** Loads the config of a file of tests as the gateway does: a file, or manifests. */
export async function loadTestedConfig(
  path: string,
  { env, gateway, text, standsIn = false }: TestedConfigOptions,
): Promise<TestedConfig | { ok: false; problems: string[] }> {
  const absent = new AbsentFiles()
  const options: LoadOptions = { file: path, dir: dirname(path), env, ...(standsIn && { absentPem: absent.pem }) }
  const loaded = text === undefined ? await load(path, options, gateway) : loadConfig(text, options)
  if (typeof loaded === 'string') return { ok: false, problems: [loaded] }
  if (!loaded.ok) return { ok: false, problems: loaded.problems.map(printProblem) }
  const { ir, endpoints } = loaded
  await loadFeatures(ir)
  const faults = checkCompile(ir)
  if (faults.length > 0) return { ok: false, problems: faults.map((fault) => loaded.explain(fault)) }
  return {
    ...{ ok: true, ir, endpoints, warnings: [...loaded.warnings.map(printProblem), ...absent.warnings(path)] },
    locate: loaded.locate ?? resourceLocations(ir, loaded.gateway ?? 'default/default'),
  }
}

/**
 * Provides a generated certificate and key for absent files, which are seldom on the machine that runs tests. Any pair
 * will do, because TLS handshakes are not simulated.
 */
class AbsentFiles {
  readonly #names = new Set<string>()
  #pair: ReturnType<AbsentPem> | null = null

  readonly pem: AbsentPem = (file) => {
    this.#names.add(file)
    return (this.#pair ??= createStandInPair())
  }

  warnings(config: string): string[] {
    if (this.#names.size === 0) return []
    const names = [...this.#names].map((file) => relative(dirname(config), file)).join(', ')
    return [`${config}: stand-ins replace certificates and keys without a file: ${names}`]
  }
}

async function load(path: string, options: LoadOptions, gateway: string | null): Promise<LoadResult | string> {
  try {
    const isFolder = statSync(path).isDirectory()
    const text = isFolder ? '' : readFileSync(path, 'utf8')
    if (!isFolder && !MANIFEST.test(text)) return loadConfig(text, options)
    const { loadManifests } = await import('../sources/manifests/manifests.ts')
    return await loadManifests(path, { gateway, env: options.env })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return `${path}: the config cannot be read: ${code}`
  }
}

const MANIFEST = /^(?:\{\s*)?["']?apiVersion["']?\s*:/m
