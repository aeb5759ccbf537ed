import { readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { checkCompile } from '../compile/check.ts'
import { loadFeatures } from '../compile/load-features.ts'
import { resourceLocations } from '../explain/resource-locations.ts'
import type { SourceLocation } from '../findings/explanation.ts'
import type { Ir } from '../ir/resources.ts'
import type { Path } from '../schema/problem.ts'
import { type LoadResult, loadConfig } from '../sources/file.ts'
import { printProblem } from '../sources/print-problems.ts'
import type { Environment } from '../sources/substitute.ts'

/** A config that can run, with the locations of its parts. */
export interface TestedConfig {
  readonly ok: true
  readonly ir: Ir
  readonly warnings: string[]
  /** Addresses of Services, by the key of their backends. */
  readonly endpoints: Readonly<Record<string, readonly string[]>> | undefined
  locate(this: void, part: object, path: Path): SourceLocation | null
}

/** Loads the config of a file of tests as the gateway does: a file, or manifests. */
export async function loadTestedConfig(
  path: string,
  { env, gateway, text }: { env: Environment; gateway: string | null; text?: string },
): Promise<TestedConfig | { ok: false; problems: string[] }> {
  const loaded =
    text === undefined ? await load(path, env, gateway) : loadConfig(text, { file: path, dir: dirname(path), env })
  if (typeof loaded === 'string') return { ok: false, problems: [loaded] }
  if (!loaded.ok) return { ok: false, problems: loaded.problems.map(printProblem) }
  const { ir, endpoints } = loaded
  await loadFeatures(ir)
  const faults = checkCompile(ir)
  if (faults.length > 0) return { ok: false, problems: faults.map((fault) => loaded.explain(fault)) }
  return {
    ...{ ok: true, ir, endpoints, warnings: loaded.warnings.map(printProblem) },
    locate: loaded.locate ?? resourceLocations(ir, loaded.gateway ?? 'default/default'),
  }
}

async function load(path: string, env: Environment, gateway: string | null): Promise<LoadResult | string> {
  try {
    const isFolder = statSync(path).isDirectory()
    const text = isFolder ? '' : readFileSync(path, 'utf8')
    if (!isFolder && !MANIFEST.test(text)) return loadConfig(text, { file: path, dir: dirname(path), env })
    const { loadManifests } = await import('../sources/manifests/manifests.ts')
    return await loadManifests(path, { gateway, env })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return `${path}: the config cannot be read: ${code}`
  }
}

const MANIFEST = /^(?:\{\s*)?["']?apiVersion["']?\s*:/m
