/** The one node of a bed. */
export const NODE_NAME = 'node0'
export const NODE_ADDRESS = '10.244.0.1'
export const KUBELET_PORT = 10_250
/** Services have addresses of 10.96, and those with a load balancer another one of this. */
export const LOAD_BALANCERS = '10.97.0'
export const API_SERVICE_ADDRESS = '10.96.0.1'

/** The program that runs for an image. */
export interface Image {
  command: readonly string[]
  /** Arguments before those of the container, when the container has no command. */
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
  workingDir?: string
  /** Whether the program ignores the container's arguments. */
  ignoresArguments?: boolean
}

export type Images = Readonly<Record<string, Image>>

/** By the whole name, the name without its tag or digest, or the last part of it alone. */
export function imageFor(images: Images, name: string): Image | undefined {
  return images[name] ?? images[withoutTag(name)] ?? images[shortName(name)]
}

/** The last part, without tag and digest. */
export function shortName(name: string): string {
  const bare = withoutTag(name)
  return bare.slice(bare.lastIndexOf('/') + 1)
}

function withoutTag(name: string): string {
  return name.replace(/@.*$/, '').replace(/:[^:/]*$/, '')
}

export function now(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`
}
