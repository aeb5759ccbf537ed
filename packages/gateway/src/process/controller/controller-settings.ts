import type { ProxyIdentity } from '../../pipeline/context/proxy-identity.ts'

/** The address of the controller, and the files and names that authenticate the data plane and the controller. */
export interface ControllerSettings {
  /** `host:port` */
  address: string
  caFile: string
  tokenFile: string
  /** `namespace/name` */
  gateway: string
  instance: string
  /** The folder of the last good config; null when no config is kept on disk. */
  stateFolder: string | null
}

/** The settings; null when no controller is configured. */
export function controllerSettings(
  env: Readonly<Record<string, string | undefined>>,
  { podName, namespace, gateway }: ProxyIdentity,
): ControllerSettings | { problems: string[] } | null {
  const address = env['CONTROLLER_ADDR'] || null
  if (address === null) return null
  const [caFile, tokenFile] = [env['CONTROLLER_CA_FILE'] ?? '', env['CONTROLLER_TOKEN_FILE'] ?? '']
  const problems: string[] = []
  if (!isHostPort(address)) problems.push('CONTROLLER_ADDR: expected host:port, such as portico.portico-system:9978')
  if (caFile === '') problems.push('CONTROLLER_CA_FILE: expected a file with the CA certificates of the controllers')
  if (tokenFile === '') problems.push('CONTROLLER_TOKEN_FILE: expected a file with the token for the controller')
  if (problems.length > 0) return { problems }
  const stateFolder = env['STATE_DIRECTORY']?.split(':')[0] || null
  return { address, caFile, tokenFile, gateway: `${namespace}/${gateway}`, instance: podName, stateFolder }
}

function isHostPort(text: string): boolean {
  const found = /^(?:\[[0-9a-fA-F:.]+\]|[\w.-]+):(\d{1,5})$/.exec(text)
  const port = Number(found?.[1])
  return port >= 1 && port <= 65_535
}
