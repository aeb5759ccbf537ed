import type { JsonObject } from './json.ts'
import type { EnvVar } from './parameters.ts'

/** How data planes reach the controller that deploys them. */
export interface ControllerConnection {
  /** `host:port`; the host is a name in its certificate. */
  address: string
  /** Certificates that sign its own, as PEM. */
  ca: string
}

/** For whom the token of a data plane is; the controller takes no other. */
export const TOKEN_AUDIENCE = 'portico'
const CA_FILE_NAME = 'controller-ca.crt'
const TOKEN_FOLDER = '/var/run/secrets/portico'
const STATE_FOLDER = '/var/lib/portico'
/** Kubernetes writes a new token when four fifths of it are over. */
const TOKEN_SECONDS = 3_600

/** What a Pod needs to be told by its controller. Without one, nothing. */
export interface ConnectionParts {
  /** Of the ConfigMap. Running Pods read the file anew, so another CA replaces none of them. */
  data: Readonly<Record<string, string>>
  env: readonly EnvVar[]
  volumes: readonly JsonObject[]
  volumeMounts: readonly JsonObject[]
  /** After which a container that is not ready is started anew. */
  startupSeconds: number
}

export function connectionParts(controller: ControllerConnection | undefined, configFolder: string): ConnectionParts {
  if (controller === undefined) return { data: {}, env: [], volumes: [], volumeMounts: [], startupSeconds: 60 }
  const serviceAccountToken = { audience: TOKEN_AUDIENCE, expirationSeconds: TOKEN_SECONDS, path: 'token' }
  return {
    data: { [CA_FILE_NAME]: controller.ca },
    env: [
      { name: 'CONTROLLER_ADDR', value: controller.address },
      { name: 'CONTROLLER_CA_FILE', value: `${configFolder}/${CA_FILE_NAME}` },
      { name: 'CONTROLLER_TOKEN_FILE', value: `${TOKEN_FOLDER}/token` },
      { name: 'STATE_DIRECTORY', value: STATE_FOLDER },
    ],
    volumes: [
      { name: 'controller-token', projected: { sources: [{ serviceAccountToken }] } },
      // It outlives restarts of the container: one that comes back serves its last config, with or without a controller.
      { name: 'state', emptyDir: {} },
    ],
    volumeMounts: [
      { name: 'controller-token', mountPath: TOKEN_FOLDER, readOnly: true },
      { name: 'state', mountPath: STATE_FOLDER },
    ],
    // The first config may be late, and whoever waits for it is not helped by ever longer pauses between restarts.
    startupSeconds: 3_600,
  }
}
