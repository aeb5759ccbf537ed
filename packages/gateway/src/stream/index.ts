export { differingParts, ENDPOINT_PARTS, endpointHashesOf, endpointPart } from './endpoint-parts.ts'
export { changeSince, generationOf, hashesOf, hashOf } from './hashes.ts'
export type { Generation, HashedIr } from './hashes.ts'
export { LineReader } from './line-reader.ts'
export {
  CONTROLLER_LINE_LIMIT,
  DATA_PLANE_LINE_LIMIT,
  lineOf,
  PING_EVERY_MS,
  SILENCE_LIMIT_MS,
  STREAM_PATH,
} from './messages.ts'
export type {
  Ack,
  ConfigMessage,
  ControllerMessage,
  DataPlaneMessage,
  EndpointsMessage,
  Goodbye,
  Have,
  Health,
  Hello,
  Nack,
} from './messages.ts'
export { readControllerLine, readDataPlaneLine } from './read-messages.ts'
export { StreamFault } from './stream-fault.ts'
