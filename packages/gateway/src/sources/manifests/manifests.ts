import type { TranslationResult } from '@portico/translate'
import type { Ir } from '../../ir/resources.ts'
import { type LoadResult, loadConfig } from '../file.ts'
import { gatewayProblem, translateManifests } from './manifest-translation.ts'
import type { Environment } from '../substitute.ts'

export interface ManifestOptions {
  /** `namespace/name` of the Gateway to run; null when there is only one. */
  gateway: string | null
  env: Environment
}

/** Resources of a cluster, from a file or a folder, as the config of one Gateway. */
export async function loadManifests(path: string, { gateway, env }: ManifestOptions): Promise<LoadResult> {
  const made = await translateManifests(path)
  const { files } = made
  // Settings of the process come from the environment alone.
  const base = loadConfig('config: {}\n', { file: path, dir: '.', env })
  if (!made.ok || !base.ok) {
    return { ok: false, problems: [made, base].flatMap((each) => (each.ok ? [] : each.problems)), files }
  }
  const { translated, notes, refused, locateIn } = made
  const chosen = chooseGateway(translated, gateway)
  const ir = translated.gateways.get(chosen ?? '')
  if (chosen === null || ir === undefined) {
    return { ok: false, problems: [gatewayProblem(path, translated, gateway)], files }
  }
  return {
    ok: true,
    gateway: chosen,
    ir: withExports(ir, base.ir),
    process: base.process,
    files,
    warnings: [...notes, ...refused],
    endpoints: translated.endpoints.get(chosen) ?? {},
    explain: ({ message }) => message,
    locateIn,
  }
}

/** Collectors that the environment names. */
function withExports(ir: Ir, base: Ir): Ir {
  return { ...ir, backends: [...ir.backends, ...base.backends], policies: [...base.policies, ...ir.policies] }
}

function chooseGateway({ gateways }: TranslationResult, wanted: string | null): string | null {
  if (wanted !== null) return gateways.has(wanted) ? wanted : null
  const [only, ...others] = gateways.keys()
  return only === undefined || others.length > 0 ? null : only
}
