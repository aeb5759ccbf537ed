import type { JsonObject } from '@portico/translate/json'
import type { EnvVar } from './parameters.ts'

/** How data planes reach the controller that deploys them. */
export interface ControllerConnection {
  /** `host:port`; the certificate of the controller contains the host. */
  address: string
  /** The CA bundle of the controller, as PEM. */
  ca: string
}

/** The audience of the tokens of data planes; the controller accepts no other. */
const TOKEN_AUDIENCE = 'portico'
const CA_FILE_NAME = 'controller-ca.crt'
const TOKEN_FOLDER = '/var/run/secrets/portico'
const STATE_FOLDER = '/var/lib/portico'
/** Kubernetes rotates a token after 80 % of this time. */
const TOKEN_SECONDS = 3_600

/** Parts of a Pod that connect the data plane to the controller; empty without a controller. */
export interface ConnectionParts {
  /** Data of the ConfigMap. Running Pods reload the file, so a new CA does not replace Pods. */
  data: Readonly<Record<string, string>>
  env: readonly EnvVar[]
  volumes: readonly JsonObject[]
  volumeMounts: readonly JsonObject[]
  /** Seconds after which Kubernetes restarts a container that has never become ready. */
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
      // The volume survives container restarts, so a restarted data plane serves its last config even without a controller.
      { name: 'state', emptyDir: {} },
    ],
    volumeMounts: [
      { name: 'controller-token', mountPath: TOKEN_FOLDER, readOnly: true },
      { name: 'state', mountPath: STATE_FOLDER },
    ],
    // The first config may arrive late, and restarting the container would only add growing pauses.
    startupSeconds: 3_600,
  }
}
