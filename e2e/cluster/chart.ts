import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { HELM } from './bed/programs.ts'

export const NAMESPACE = 'portico-system'
/** The folder of the charts and of the manifests rendered from them. */
export const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url))

interface HelmResult {
  ok: boolean
  stdout: string
  stderr: string
}

export function helm(...args: string[]): Promise<HelmResult> {
  return new Promise((resolve) => {
    execFile(HELM, args, { cwd: DEPLOY, encoding: 'utf8', maxBuffer: 1 << 26 }, (error, stdout, stderr) =>
      resolve({ ok: error === null, stdout, stderr }),
    )
  })
}

/** The objects of a chart, each with values like `replicas=2`. */
export function template(chart: 'portico' | 'portico-crds', ...values: string[]): Promise<HelmResult> {
  const set = values.flatMap((value) => ['--set-json', value])
  return helm('template', 'portico', `helm/${chart}`, '--namespace', NAMESPACE, ...set)
}

/** `deploy/install.yaml`: both charts as they come, in a namespace of their own. */
export async function renderInstall(): Promise<string> {
  const [crds, controller] = await Promise.all([template('portico-crds', 'keep=false'), template('portico')])
  if (!crds.ok || !controller.ok) throw new Error(crds.stderr + controller.stderr)
  return `# Rendered from the charts in helm/ by \`npm run install-yaml\`; changes here are lost.
# kubectl apply -f install.yaml, where the kinds of the Gateway API are installed already.
---
apiVersion: v1
kind: Namespace
metadata:
  name: ${NAMESPACE}
  labels:
    pod-security.kubernetes.io/enforce: restricted
${crds.stdout.trimEnd()}
${controller.stdout.trimEnd()}
`
}
