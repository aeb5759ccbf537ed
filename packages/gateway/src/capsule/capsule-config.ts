import { checkCompile } from '../compile/check.ts'
import { loadFeatures } from '../compile/load-features.ts'
import type { TestedConfig } from '../config-tests/tested-config.ts'
import type { Ir } from '../ir/resources.ts'
import type { Capsule } from './capsule.ts'
import { withCertificates } from './stand-in-certificate.ts'

/** Returns the config of a capsule in the form that tests use, or its problems. */
export async function capsuleConfig({
  config,
  endpoints,
}: Pick<Capsule, 'config' | 'endpoints'>): Promise<TestedConfig | { ok: false; problems: string[] }> {
  const ir = withCertificates(structuredClone(config)) as Ir
  try {
    await loadFeatures(ir)
    const faults = checkCompile(ir)
    if (faults.length > 0) return { ok: false, problems: faults.map(({ found }) => found) }
  } catch (error) {
    // A person may have edited the capsule, so its config may have any form.
    return { ok: false, problems: [`the config of the capsule cannot be used: ${(error as Error).message}`] }
  }
  return { ok: true, ir, warnings: [], endpoints, locate: () => null }
}
