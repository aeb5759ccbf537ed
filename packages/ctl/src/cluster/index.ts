/** Loaded by commands that use a cluster. */
export { type OpenGateway, openGateway } from './open-gateway.ts'
export { ClusterProblem } from './problem.ts'
