/** Loaded by commands that were asked for a cluster. */
export { type OpenGateway, openGateway } from './open-gateway.ts'
export { ClusterProblem } from './problem.ts'
