/** The entry point of the package for `porticoctl doctor`. */
export { type CalledServer, calledServers } from './called-servers.ts'
export { type CheckableProvider, checkableProviders } from './checkable-providers.ts'
export type { LoadedConfig } from '../sources/file.ts'
