import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { shippedProgram } from '../../packages/gateway/src/testing/shipped-program.ts'
import type { Bed } from './bed/bed.ts'
import type { Images } from './bed/kubelet/node-settings.ts'

const ROOT = new URL('../../', import.meta.url)
const NAMESPACE = 'portico-system'
const PATIENCE_SECONDS = 300

/** The programs that ship, by the names of their images. */
export function ownImages(): Images {
  const program = (name: 'gateway' | 'controller'): { command: string[] } => {
    const command = [process.execPath, shippedProgram(name)]
    // Built here, and not by each Pod.
    execFileSync(process.execPath, [...command.slice(1), '--version'])
    return { command }
  }
  return {
    portico: program('gateway'),
    'portico-controller': program('controller'),
  }
}

/** Installs the controller as users do, and waits until it is ready. */
export async function install(bed: Bed): Promise<void> {
  await bed.apply(readFileSync(new URL('deploy/install.yaml', ROOT), 'utf8'))
  await rolledOut(bed, NAMESPACE, 'portico-controller')
}

export async function rolledOut(bed: Bed, namespace: string, deployment: string): Promise<void> {
  const timeout = `--timeout=${PATIENCE_SECONDS}s`
  await bed.kubectl('-n', namespace, 'rollout', 'status', `deployment/${deployment}`, timeout)
}
