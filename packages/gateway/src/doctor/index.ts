/** The servers that a config calls, for porticoctl. */
export { type CalledServer, calledServers } from './called-servers.ts'
export { type CheckableProvider, checkableProviders } from './checkable-providers.ts'
export type { LoadedConfig } from '../sources/file.ts'
