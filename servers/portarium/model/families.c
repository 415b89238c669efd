/*
 * families.c - the table of port families. The capabilities of a row are words with one space
 * between.
 */
#include "model/families.h"

#include <ctype.h>
#include <string.h>

static const struct family {
    const char *name;
    const char *capabilities;
} families[] = {
    { "FinanceAccounting",
      "account:read journal:read journal:write invoice:read invoice:write bill:read "
      "bill:write vendor:read reconciliation:write report:read" },
    { "PaymentsBilling",
      "charge:read charge:write refund:write subscription:read subscription:write "
      "invoice:read invoice:write payment-method:read payout:write balance:read" },
    { "ProcurementSpend",
      "po:read po:write po:approve expense:read expense:write expense:approve vendor:read "
      "vendor:write rfq:write contract:read" },
    { "HrisHcm",
      "employee:read employee:write department:read position:read time-off:read time-off:write benefit:read org:read" },
    { "Payroll", "payroll:read payroll:write payroll:approve paystub:read tax:read schedule:read "
                 "deduction:read earning:read contractor:read" },
    { "CrmSales",
      "party:read party:write company:read company:write opportunity:read opportunity:write "
      "pipeline:read activity:read activity:write note:read note:write" },
    { "CustomerSupport",
      "ticket:read ticket:write ticket:assign agent:read comment:read comment:write "
      "tag:read tag:write kb:read sla:read csat:read" },
    { "ItsmItOps",
      "incident:read incident:write change:read change:write change:approve asset:read "
      "asset:write cmdb:read problem:read problem:write sr:read" },
    { "IamDirectory",
      "user:read user:write group:read group:write role:read role:write app:read auth:write "
      "mfa:write audit:read" },
    { "SecretsVaulting",
      "secret:read secret:write secret:rotate cert:read cert:write crypto:read crypto:write "
      "key:read key:write audit:read policy:write" },
    { "MarketingAutomation",
      "contact:read contact:write list:read list:write campaign:read campaign:write "
      "campaign:send stats:read automation:read automation:write form:read" },
    { "AdsPlatforms",
      "campaign:read campaign:write ad-group:read ad-group:write ad:read ad:write "
      "stats:read audience:read audience:write budget:read budget:write keyword:read" },
    { "CommsCollaboration",
      "message:read message:write channel:read channel:write user:read email:read "
      "email:write meeting:read meeting:write calendar:read calendar:write file:read "
      "file:write" },
    { "ProjectsWorkMgmt",
      "project:read project:write task:read task:write task:assign board:read sprint:read "
      "sprint:write milestone:read comment:read comment:write label:read time:read "
      "time:write" },
    { "DocumentsEsign",
      "document:read document:write folder:read folder:write share:write permission:read "
      "permission:write esign:read esign:write template:read template:write audit:read" },
    { "AnalyticsBi",
      "dashboard:read report:read report:write report:export query:read query:write "
      "datasource:read datasource:write dataset:read dataset:write metric:read user:read "
      "share:write" },
    { "MonitoringIncident",
      "alert:read alert:write incident:read incident:write schedule:read schedule:write "
      "escalation:read service:read statuspage:write maintenance:read notification:write" },
    { "ComplianceGrc",
      "control:read control:write risk:read risk:write policy:read policy:write audit:read "
      "audit:write finding:read finding:write evidence:read evidence:write framework:read "
      "framework:write" },
    { "RoboticsActuation",
      "robot:execute_action robot:cancel_action robot:stop robot:estop_request "
      "robot:get_state robot:get_diagnostics actuator:set_state actuator:get_state" },
    { "SoftwareDev",
      "pr:read pr:write deployment:read deployment:write repository:read commit:read "
      "workflow:read metrics:read" },
};

enum { FAMILY_COUNT = sizeof families / sizeof *families };

static const struct family *find(const char *name)
{
    for (size_t i = 0; name && i < FAMILY_COUNT; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}

const char *portarium_family_name(size_t index)
{
    return index < FAMILY_COUNT ? families[index].name : NULL;
}

bool portarium_family_exists(const char *name)
{
    return find(name) != NULL;
}

const char *portarium_family_capability(const char *family, size_t index, size_t *length)
{
    const struct family *row = find(family);
    const char *at = row ? row->capabilities : NULL;

    for (; at && index > 0; index--) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    *length = at ? strcspn(at, " ") : 0;
    return at;
}

bool portarium_family_has(const char *family, const char *capability)
{
    size_t length;
    const char *at = portarium_family_capability(family, 0, &length);

    while (at && !(strlen(capability) == length && memcmp(at, capability, length) == 0)) {
        at = at[length] == ' ' ? at + length + 1 : NULL;
        length = at ? strcspn(at, " ") : 0;
    }
    return at != NULL;
}

bool portarium_is_operation(const char *text)
{
    const char *colon = text ? strchr(text, ':') : NULL;

    if (!colon || colon == text || colon[1] == '\0' || strchr(colon + 1, ':'))
        return false;
    for (const char *at = text; *at; at++)
        if (isspace((unsigned char)*at))
            return false;
    return true;
}
