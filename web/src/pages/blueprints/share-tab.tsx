import { Button, Text } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client'
import { useSignedIn } from '../../api/session'
import { KeyValue, Time } from '../../parts'
import { BudgetSection } from './budget-section'
import { CategoriesSection } from './categories-section'
import { CollaboratorsSection } from './collaborators-section'
import { DetailsSection } from './details-section'
import { RatingSection } from './rating-section'
import { Section } from './section'
import classes from './section.module.css'
import { StatusSection } from './status-section'
import { useBlueprintActions } from './use-actions'
import { type Blueprint, useAdministers } from '../../api/use-blueprint'
import { useNames } from './use-names'
import { VisibilitySection } from './visibility-section'
import { shareTabText } from '../../text/blueprints'
import { commonText } from '../../text/common'

/** The Share page of a blueprint: visibility, collaborators, title, categories and budget. */
export default function ShareTab({ blueprint }: { blueprint: Blueprint }) {
  const actions = useBlueprintActions()
  const administers = useAdministration(blueprint)
  const name = useNames(blueprint, '')
  return (
    <div className={classes.columns}>
      <div>
        {blueprint.can_manage && <VisibilitySection blueprint={blueprint} allowed={administers} />}
        {blueprint.can_manage && <CollaboratorsSection blueprint={blueprint} allowed={administers} />}
        <DetailsSection blueprint={blueprint} />
        {blueprint.can_manage && <BudgetSection blueprint={blueprint} />}
      </div>
      <div>
        <Section title={shareTabText.about}>
          <KeyValue
            pairs={[
              [shareTabText.createdBy, blueprint.is_owner ? commonText.you : name(blueprint.created_by) || undefined],
              [commonText.owner, blueprint.organizations.map((one) => one.name).join(', ') || undefined],
              [commonText.created, <Time key="made" at={blueprint.created_at} />],
              [commonText.updated, <Time key="changed" at={blueprint.updated_at} />],
              [
                shareTabText.visibleTo,
                blueprint.visibility === 'public' ? shareTabText.everyoneOnThisServer : shareTabText.itsOrganizationAnd,
              ],
            ]}
          />
        </Section>
        <StatusSection blueprint={blueprint} />
        <RatingSection blueprint={blueprint} />
        <CategoriesSection blueprint={blueprint} />
        {administers && (
          <Section title={commonText.delete}>
            <Text size="sm" c="dimmed" mb="sm">
              {shareTabText.deletesItsVersionsAndTriggers}
            </Text>
            <Button
              color="red"
              variant="light"
              style={{ alignSelf: 'flex-start' }}
              leftSection={<IconTrash size={17} aria-hidden />}
              onClick={() => void actions.remove(blueprint)}
            >
              {shareTabText.deleteBlueprint}
            </Button>
          </Section>
        )}
      </div>
    </div>
  )
}

// Reports whether the caller is the creator, an admin of the organization, or a collaborator with the role admin.
function useAdministration(blueprint: Blueprint): boolean {
  const { user } = useSignedIn()
  const ofOrganization = useAdministers(blueprint.organization_id)
  const collaborators = useQuery({
    queryKey: ['blueprint', blueprint.id, 'collaborators'],
    queryFn: () => api.collaborator.list.query({ blueprintId: blueprint.id }),
    enabled: blueprint.can_manage,
  })
  return (
    blueprint.is_owner ||
    ofOrganization ||
    Boolean(collaborators.data?.some(({ userId, role }) => userId === user.id && role === 'admin'))
  )
}
