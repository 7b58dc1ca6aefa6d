import { apiPrefix } from '../../../platform/http/http.ts'
import type { App } from '../../../platform/http/http.ts'
import { IdParams, ok, Success } from '../../../platform/http/schemas.ts'
import type { SessionDeps } from '../../deps.ts'
import { turnEvents } from '../../events.ts'
import { TurnAnswer } from '../schemas.ts'
import { getTurnWithReply } from '../turn-details.ts'
import { giveToolOutputs } from './outputs.ts'
import { ToolOutputs } from './schemas.ts'

export const registerToolOutputRoutes = (app: App, deps: SessionDeps): void => {
  app.post(
    `${apiPrefix}/turns/:id/tool-outputs`,
    {
      config: { events: turnEvents, access: 'sessions:write', what: 'Turn' },
      schema: {
        tags: ['Turns'],
        summary: 'Give tool outputs',
        description:
          "Gives the outputs of calls of the caller's `tools`, which are listed in `requiredToolOutputs` of the turn: all at once or one after another. The turn continues after the last one. All outputs of a request are stored or none. Only the user of the turn may give them. Giving an output again changes nothing; CONFLICT when it differs, and when the turn does not wait for it.",
        params: IdParams,
        body: ToolOutputs,
        response: { 200: Success(TurnAnswer) },
      },
    },
    async ({ actor, params, body, db }) => {
      await giveToolOutputs({ ...deps, db }, actor, { turnId: params.id, outputs: body.outputs })
      return ok(await getTurnWithReply(deps.db.hot, actor, params.id))
    },
  )
}
