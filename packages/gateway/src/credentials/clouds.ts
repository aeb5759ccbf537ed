// One chunk of the program: no config needs the code of one cloud so often that the others were worth a chunk each.
export { createAwsSigner } from './aws/signer.ts'
export { createAzureToken } from './azure/token.ts'
export { createGcpToken } from './gcp/token.ts'
