#include "examples/programs/report/direction.h"

#include "examples/programs/data/words.h"

/* Phrases of whole words, with commas between. */
static const char lower[] =
    "false positive,misclassification,wmape,false negative,false alarm,false discovery,davies bouldin,"
    "cross entropy,bits per,log loss,loss,losses,error,errors,err,brier,mse,rmse,mae,mape,smape,mase,msle,"
    "rmsle,nrmse,sse,rss,medae,nll,bce,ce,xent,crossentropy,logloss,perplexity,ppl,bpc,bpb,bpd,divergence,kl,"
    "kld,wer,cer,eer,ece,fid,kid,lpips,fvd,wasserstein,hausdorff,chamfer,deviance,regret,cost,inaccuracy,"
    "misclassified,incorrect,failure,failures,miss,misses,fpr,fnr,fdr,pinball,crps,hinge,huber,aic,bic,latency";
static const char higher[] =
    "average precision,concordance,c index,exact match,inception score,v measure,log prob,solve rate,"
    "explained variance,true positive,true negative,positive predictive value,negative predictive value,"
    "mean reciprocal rank,calinski harabasz,percent correct,top 1,top 3,top 5,top 10,top k,pass 1,pass 10,"
    "pass k,r 2,r squared,r²,f 1,f 2,f 0 5,f beta,f measure,f score,accuracy,acc,accuracies,precision,recall,"
    "sensitivity,specificity,fbeta,fscore,auc,auroc,rocauc,auprc,aucpr,prauc,roc,ap,map,ar,mar,mcc,matthews,"
    "kappa,qwk,jaccard,iou,miou,giou,dice,dsc,ndcg,dcg,mrr,hits,pck,tpr,tnr,ppv,npv,youden,informedness,nse,"
    "kge,pearson,pearsonr,spearman,spearmanr,kendall,correlation,corr,likelihood,loglik,loglikelihood,llh,elbo,"
    "psnr,ssim,snr,sdr,pesq,stoi,bleu,sacrebleu,rouge,rougel,meteor,cider,chrf,bertscore,comet,reward,rewards,"
    "success,silhouette,ari,nmi,ami,purity,homogeneity,completeness,throughput,elo";

/* Words that mean a score, but only if nothing but these others is in a name. */
static const char scores[] = "score,return,returns,win,wins,winrate,hit,correct,utility";
static const char neutral[] =
    "train,training,val,valid,validation,test,testing,eval,dev,holdout,best,last,final,mean,avg,average,median,"
    "macro,micro,weighted,max,epoch,episode,cv,overall,total,rate,1,2,3,4,5";

static const char spoiling[] =
    "std,stdev,sd,sem,var,variance,deviation,gap,drop,delta,diff,difference,change,ratio,reduction,improvement,"
    "gain,weight,weights,coefficient,coef,threshold,scale,time,seconds,steps,count,number,num,norm,range";
static const char reversing[] = "neg,negative,negated,minus";

enum { NAME = 320 };

/* "val/mAP@50" as " val map 50 ": small words with single blanks between and around. */
static void split(const char *name, bool capitals, char words[NAME])
{
    size_t put = 0;
    words[put++] = ' ';
    for (size_t i = 0; name[i] && put + 4 < NAME; i++) {
        const unsigned char now = (unsigned char)name[i], before = i ? (unsigned char)name[i - 1] : ' ';
        const bool part = isalnum(now) || now >= 0x80, begins = (isdigit(now) && isalpha(before)) ||
                                                                (isalpha(now) && isdigit(before)) ||
                                                                (capitals && isupper(now) && islower(before));
        if ((begins || !part) && words[put - 1] != ' ')
            words[put++] = ' ';
        if (part)
            words[put++] = (char)tolower(now);
    }
    if (words[put - 1] != ' ')
        words[put++] = ' ';
    words[put] = '\0';
}

/* Removes all of these phrases; returns how many there were. */
static int take(char words[NAME], const char *phrases)
{
    int taken = 0;
    for (char phrase[NAME] = " "; next_word(&phrases, phrase + 1, NAME - 2);) {
        strcat(phrase, " ");
        for (char *at; (at = strstr(words, phrase)); taken++)
            memmove(at + 1, at + strlen(phrase), strlen(at + strlen(phrase)) + 1);
    }
    return taken;
}

static direction direction_by(const char *name, bool capitals)
{
    char words[NAME];
    split(name, capitals, words);
    const int bad = take(words, lower), good = take(words, higher), spoiled = take(words, spoiling),
              reversed = take(words, reversing);
    const bool complement = strncmp(name, "1-", 2) == 0 && strcmp(words, " 1 ") == 0; /* 1-auc, but not 1-shot auc */
    const int weak = take(words, scores);
    take(words, neutral);
    if (spoiled || (!bad && !good && (!weak || strcmp(words, " ") != 0)))
        return DIRECTION_UNKNOWN;
    return (bad == 0) == ((reversed + complement) % 2 == 0) ? DIRECTION_MORE : DIRECTION_LESS;
}

direction direction_of(const char *name, const char *more, const char *less)
{
    if (list_has(more, name) || list_has(less, name))
        return list_has(more, name) ? DIRECTION_MORE : DIRECTION_LESS;
    const direction of = direction_by(name, false);
    return of != DIRECTION_UNKNOWN ? of : direction_by(name, true);
}

bool direction_is_accuracy(const char *name)
{
    char words[NAME];
    split(name, true, words);
    return take(words, "acc,accuracy,accuracies") > 0;
}

const char *direction_words(direction of)
{
    return of == DIRECTION_MORE ? "more is better" : of == DIRECTION_LESS ? "less is better" : NULL;
}
