export { MediaAnswer } from './media-answer.ts'
export { transcriptTexts } from './transcript-texts.ts'
